#pragma once

#include <boost/asio/awaitable.hpp>

#include "engine/ports/values.h"

namespace flow::port {

// The control topic, read and written. One coroutine reads at a time, one transaction is open at a
// time; all calls come from the engine's one loop thread. No call waits without a deadline of its
// own.
class ControlLog {
 public:
  virtual ~ControlLog() = default;

  // Returns partitions, policy and bounds. Errc::refused: no such topic, or missing right;
  // Errc::unreachable: the broker does not answer within 10 s.
  virtual boost::asio::awaitable<Result<LogState>> describe() = 0;

  // The next read starts at `position`. May be called again at any time.
  virtual boost::asio::awaitable<Result<void>> seek(LogPosition position) = 0;

  // Waits for records (read_committed, partition 0) and returns at most 10,000 of them, or an empty
  // batch after 1 s. The batch says at_end once for each time that the last stable offset is
  // reached. Errc::unreachable and Errc::retriable: call again, the position has not moved.
  // Errc::refused: the topic is gone or may not be read.
  virtual boost::asio::awaitable<Result<LogBatch>> read() = 0;

  // Makes a new transactional producer under flow.<control topic>, which fences the one before (its
  // own or another engine's), and aborts what that one had open. Within 30 s. After it, nothing may
  // be decided before an engine record of this producer has been read back.
  virtual boost::asio::awaitable<Result<void>> open_producer() = 0;

  // Carries out one transaction in the order of design 1, steps 3 to 5: begin, records delivered,
  // offsets sent, befores read again, commit. Never fails otherwise than by its outcome.
  virtual boost::asio::awaitable<CommitOutcome> commit(Transaction transaction) = 0;
};

// Who leads: the member of the group flow-engine.<control topic> that owns partition 0.
class Leadership {
 public:
  virtual ~Leadership() = default;

  // Returns when the role is another than `current`. A process starts as a follower.
  virtual boost::asio::awaitable<Role> changed_from(Role current) = 0;

  // Commits `position` to the engine group under this engine's membership. True: the broker took
  // it, so this engine still owns partition 0; false: it refused the member, somebody else does.
  virtual boost::asio::awaitable<Result<bool>> confirm(LogPosition position) = 0;

  // Tries a guarded commit for this engine's own live group, which a broker that checks refuses.
  // Nothing is left behind. Errors other than the two answers: try again.
  virtual boost::asio::awaitable<Result<GuardSupport>> probe_guard() = 0;

  // Leaves the engine group, so that another engine takes over at once. Within 5 s.
  virtual boost::asio::awaitable<void> leave() = 0;
};

}  // namespace flow::port
