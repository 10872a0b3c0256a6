#include "connectors/kafka/log.h"

#include <memory>
#include <mutex>
#include <utility>

namespace flow::kafka {
namespace {

struct Sink {
  std::mutex mutex;
  std::shared_ptr<const LogSink> target;
};

// Never destroyed: librdkafka's threads may log while the process ends.
Sink& sink() {
  static Sink* const one = new Sink;
  return *one;
}

}  // namespace

void set_log_sink(LogSink target) {
  const std::lock_guard lock{sink().mutex};
  sink().target = std::make_shared<const LogSink>(std::move(target));
}

void log_line(int level, std::string_view client, std::string_view text) {
  std::shared_ptr<const LogSink> target;
  {
    const std::lock_guard lock{sink().mutex};
    target = sink().target;
  }
  if (target != nullptr && *target) {
    (*target)(level, client, text);
  }
}

}  // namespace flow::kafka
