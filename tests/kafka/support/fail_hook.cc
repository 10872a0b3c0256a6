#include "tests/kafka/support/fail_hook.h"

#include <mutex>
#include <utility>

#include "engine/ports/fail_point.h"

namespace world {
namespace {

std::mutex mutex;
std::function<void(std::string_view)> hook;

}  // namespace

void on_fail_point(std::function<void(std::string_view name)> next) {
  const std::lock_guard lock{mutex};
  hook = std::move(next);
}

}  // namespace world

namespace flow {

void fail_point(std::string_view name) {
  std::function<void(std::string_view)> call;
  {
    const std::lock_guard lock{world::mutex};
    call = world::hook;
  }
  if (call) {
    call(name);
  }
}

}  // namespace flow
