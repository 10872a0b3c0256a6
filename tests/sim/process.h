#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/runtime/engine.h"
#include "tests/sim/disk.h"
#include "tests/sim/fake_groups.h"
#include "tests/sim/fake_leadership.h"
#ifdef FLOW_SIM_FAULTS
#include "tests/sim/faulty_log.h"
#else
#include "tests/sim/fake_log.h"
#endif

namespace flow::sim {

class World;

#ifdef FLOW_SIM_FAULTS
using Log = FaultyLog;
#else
using Log = FakeLog;
#endif

// What becomes of one request on its way to the broker and back.
enum class Fate : std::uint8_t {
  answered,
  lost,         // never arrives
  answer_lost,  // arrives, and nobody hears of it
  late,         // arrives when the asker has given up
};

// Virtual time for one engine.
class ProcessClock : public port::Clock {
 public:
  explicit ProcessClock(Process& process) : process_(process) {}
  Instant now() const override;
  boost::asio::awaitable<void> sleep_until(Instant at) override;

 private:
  Process& process_;
};

// One engine process: the real engine over ports that lead into the world. A crashed one is
// abandoned: nothing that it waits for ever comes. It stays in memory until the world's end.
class Process {
 public:
  Process(World& world, int number, Disk& disk);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void start();
  // Does the same as SIGTERM, SIGKILL, and SIGSTOP with SIGCONT after `span`.
  void stop();
  void crash();
  void pause(Micros span);
  // Its requests get lost for `span`.
  void cut_off(Micros span);
  // No pause and no cut any more.
  void recover();

  int number() const { return number_; }
  const std::string& name() const { return name_; }
  World& world() { return world_; }
  bool is_gone() const { return crashed_ || ended_; }
  bool is_paused() const;
  bool reaches_broker() const;
  // By how much its clock is ahead of the world's.
  Duration skew() const { return skew_; }
  bool is_stopping() const { return stopping_; }
  const engine::Engine& engine() const { return *engine_; }
  FakeLog& log() { return log_; }
  Disk& disk() { return disk_; }
  // The position up to which the engine has applied the log.
  std::int64_t applied() const { return engine_->context().keeper.store().next().value(); }

  // Waits for `delay`; false: cancelled. Does not return in a crashed process.
  boost::asio::awaitable<bool> pass(Micros delay);
  // A point at which anything may happen to this process. `name` is for the trace.
  boost::asio::awaitable<bool> step(const char* name);
  // The time after which an unanswered request is given up.
  Micros patience();

  // One request to the broker; nothing where no answer came. `may_come_late`: a request that is
  // given up may still arrive.
  template <typename T>
  boost::asio::awaitable<std::optional<T>> ask(const char* name, std::function<T()> request,
                                               bool may_come_late = false) {
    const Fate fate = draw_fate(may_come_late);
    note_fate(name, fate);
    co_await step(name);
    if (fate == Fate::lost || !reaches_broker()) {
      co_await pass(patience());
      co_return std::nullopt;
    }
    if (fate == Fate::late) {
      arrive_late(name, [request] { request(); });
      co_await pass(patience());
      co_return std::nullopt;
    }
    if (may_come_late) {
      may_deliver_late();
    }
    std::optional<T> answer = request();
    if (fate == Fate::answer_lost) {
      co_await pass(patience());
      co_return std::nullopt;
    }
    co_await step(name);
    co_return answer;
  }

  // The log has changed: a read that waits for more is woken.
  void wake_reader();
  // Waits until wake_reader, or for `at_most`; false: cancelled.
  boost::asio::awaitable<bool> wait_for_log(Micros at_most);

  // Counts a call of a port. Too many in one virtual second are a hot loop.
  void count_call();
  int calls() const { return calls_; }
  int busiest_second() const { return busiest_second_; }

 private:
  struct Ticket;

  boost::asio::awaitable<void> run();

  Fate draw_fate(bool may_come_late);
  void note_fate(const char* name, Fate fate);
  void arrive_late(const char* name, std::function<void()> request);
  void may_deliver_late();
  void fire(std::uint64_t ticket);
  void end_sessions_after_a_while();

  World& world_;
  int number_;
  std::string name_;
  DiskSource tables_;
  Log log_;
  Disk& disk_;
  FakeLeadership leadership_;
  FakeGroups groups_;
  ProcessClock clock_;
  std::unique_ptr<engine::Engine> engine_;
  std::map<std::uint64_t, Ticket*> tickets_;  // of everything that waits
  std::uint64_t next_ticket_ = 1;
  std::uint64_t reading_ = 0;  // the ticket of a read that waits for more
  Duration skew_;
  bool crashed_ = false;
  bool ended_ = false;
  bool stopping_ = false;
  Micros paused_until_ = 0;
  Micros cut_off_until_ = 0;
  Micros second_ = 0;
  int calls_in_second_ = 0;
  int calls_ = 0;
  int busiest_second_ = 0;
};

}  // namespace flow::sim
