#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "schemas/ids.h"
#include "tests/support/random.h"

namespace flow::sim {

// Virtual time since the beginning of a world, in microseconds.
using Micros = std::int64_t;

inline constexpr Micros ms = 1'000;
inline constexpr Micros seconds = 1'000'000;

// Virtual time, chance and order: everything that happens in a world is an event of this queue, and
// the coroutines run only as long as none of them waits for a later event. The same seed gives the
// same order, always.
class Clockwork {
 public:
  explicit Clockwork(std::uint64_t seed);
  ~Clockwork() { end(); }
  Clockwork(const Clockwork&) = delete;
  Clockwork& operator=(const Clockwork&) = delete;

  boost::asio::io_context& loop() { return *loop_; }
  // Destroys every coroutine that still waits. What they refer to must still be there.
  void end();

  test::Random& random() { return random_; }
  Micros now() const { return now_; }
  // The same as clients and brokers tell it; both ends of a world share one clock.
  Instant instant() const { return Instant{first_ms + now_ / ms}; }
  static Micros at(Instant instant);

  // Calls `what` when `delay` has passed.
  void after(Micros delay, std::function<void()> what);
  Micros between(Micros low, Micros high) { return random_.between(low, high); }

  // Runs what happens until `until`, or until stop.
  void run_until(Micros until);
  void stop(std::string why);
  bool is_stopped() const { return stopped_; }
  const std::string& why() const { return why_; }

 private:
  static constexpr std::int64_t first_ms = 1'700'000'000'000;

  struct Event {
    Micros at;
    std::uint64_t number;
    std::function<void()> what;
  };

  static bool comes_later(const Event& a, const Event& b) {
    return a.at != b.at ? a.at > b.at : a.number > b.number;
  }
  void settle();

  using Work = boost::asio::executor_work_guard<boost::asio::io_context::executor_type>;

  std::unique_ptr<boost::asio::io_context> loop_;
  std::unique_ptr<Work> work_;
  test::Random random_;
  std::vector<Event> events_;  // a heap, the next one first
  std::uint64_t numbers_ = 0;
  Micros now_ = 0;
  int handlers_at_once_ = 0;
  bool stopped_ = false;
  std::string why_;
};

}  // namespace flow::sim
