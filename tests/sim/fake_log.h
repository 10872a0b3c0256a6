#pragma once

#include "engine/ports/control_log.h"
#include "tests/sim/broker.h"

namespace flow::sim {

class Process;

// port::ControlLog over the simulated cluster. One producer, one reader, as the Kafka connector has
// them: every request of a transaction travels by itself, may be lost, and may come late.
class FakeLog : public port::ControlLog {
 public:
  explicit FakeLog(Process& process) : process_(process) {}

  boost::asio::awaitable<Result<port::LogState>> describe() override;
  boost::asio::awaitable<Result<void>> seek(LogPosition position) override;
  boost::asio::awaitable<Result<port::LogBatch>> read() override;
  boost::asio::awaitable<Result<void>> open_producer() override;
  boost::asio::awaitable<port::CommitOutcome> commit(port::Transaction transaction) override;

  // The epoch of the producer that is open; nothing where none is.
  std::optional<std::int64_t> epoch() const { return epoch_; }
  bool is_spent() const { return spent_; }
  void spend() { spent_ = true; }
  void unspend() { spent_ = false; }

 private:
  class Attempt;

  std::optional<port::LogBatch> take();

  Process& process_;
  std::optional<std::int64_t> epoch_;
  bool spent_ = false;
  std::int64_t position_ = 0;
  std::int64_t end_told_ = -1;
};

}  // namespace flow::sim
