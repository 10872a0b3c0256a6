#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connectors/kafka/connection.h"
#include "engine/ports/values.h"

namespace flow::kafka {

// How soon the broker answers a fetch for which it has nothing. librdkafka reports the end of the
// log only with such an answer, and cannot change the time later.
enum class Pace : std::uint8_t {
  eager,  // 5 ms: to reach the end quickly
  idle,   // 500 ms: to wait there at no cost
};

// Reads partition 0 of the control topic, read_committed, from a position on. It belongs to no
// group, so it needs no right to one, no coordinator, and cannot be rebalanced. One caller at a
// time.
//
// The position moves only with what was handed out: after an error, restart() goes on from there.
class LogReader {
 public:
  LogReader(ClientConfig config, TopicName topic, std::string client_id);
  ~LogReader();
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  // The next read starts at `position`. Blocks for one metadata answer. Errc::invalid: a setting
  // that librdkafka does not take; Errc::refused: no such topic, or a missing right;
  // Errc::unreachable.
  Result<void> seek(LogPosition position, const Deadline& deadline);

  // Whether reading has to be started again before the next read: after an error, or to change the
  // pace.
  bool needs_restart() const;

  // Goes on from where reading was; errors as seek.
  Result<void> restart(const Deadline& deadline);

  // Returns at most records_max records; waits up to `wait_ms` for the first, and not at all for
  // more. Errors as port::ControlLog::read, but for a broker that is silent.
  Result<port::LogBatch> read(int wait_ms);

  // After much was read: what has the client look again whether to fetch, to be run on another
  // thread; empty where it is not needed. librdkafka 2.0.2 stops fetching while its queue is full,
  // and looks again only when something happens on the connection, or after a second.
  std::function<void()> refill();

  // The error of a broker that has answered no fetch for 5 s; nothing while it answers. To be asked
  // after waiting in vain, so that a caller who tries again does not spin.
  std::optional<Error> silence() const;

  // From now on a byte is written to this descriptor (non-blocking) when something arrives.
  void wake(int descriptor);

  static constexpr std::size_t records_max = 10'000;

 private:
  struct Session;

  Result<void> start(Pace pace, const Deadline& deadline);
  void take(const rd_kafka_message_t& message, port::LogBatch& batch);
  Error describe(const rd_kafka_message_t& message) const;

  ClientConfig config_;
  TopicName topic_;
  std::string client_id_;
  std::shared_ptr<Session> session_;
  std::vector<rd_kafka_message_t*> scratch_;
  std::size_t drained_bytes_ = 0;  // since the last refill
  int wake_descriptor_ = -1;
  std::int64_t position_ = 0;
  bool stopped_ = true;
  std::optional<SteadyClock::time_point> at_end_since_;
  std::optional<Error> pending_;
};

}  // namespace flow::kafka
