#include <utility>

#include "connectors/kafka/client.h"
#include "connectors/kafka/log_reader.h"

namespace flow::kafka {
namespace {

class LogScan final : public Scan {
 public:
  LogScan(const ClientConfig& config, TopicName topic, LogPosition from, std::string client_id)
      : reader_{config, std::move(topic), std::move(client_id)}, from_{from} {}

  Result<port::LogBatch> next(Duration deadline) override {
    const Deadline until{deadline};
    if (!begun_) {
      BOOST_OUTCOME_TRY(reader_.seek(from_, until));
      begun_ = true;
    } else if (reader_.needs_restart()) {
      BOOST_OUTCOME_TRY(reader_.restart(until));
    }
    auto batch = reader_.read(until.left_ms());
    if (batch && batch.value().records.empty() && !batch.value().at_end) {
      if (auto silent = reader_.silence()) {
        return *std::move(silent);
      }
    }
    return batch;
  }

 private:
  LogReader reader_;
  LogPosition from_;
  bool begun_ = false;
};

}  // namespace

Result<std::unique_ptr<Scan>> Scan::make(const ClientConfig& config, TopicName control_topic,
                                         LogPosition from, std::string client_id) {
  // A setting that librdkafka does not take is found here, before anything connects.
  BOOST_OUTCOME_TRY(make_conf(config, client_id, reader_settings()));
  return std::unique_ptr<Scan>{
      std::make_unique<LogScan>(config, std::move(control_topic), from, std::move(client_id))};
}

}  // namespace flow::kafka
