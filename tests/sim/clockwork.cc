#include "tests/sim/clockwork.h"

#include <algorithm>

namespace flow::sim {

namespace {

// More than any burst of work needs; a loop that waits for nothing gets there.
constexpr int handlers_at_once_max = 20'000;

// Times of records may be any of 64 bits.
constexpr std::int64_t far_ms = 1'000'000'000'000'000;

}  // namespace

Clockwork::Clockwork(std::uint64_t seed)
    : loop_(std::make_unique<boost::asio::io_context>(1)),
      work_(std::make_unique<Work>(loop_->get_executor())),
      random_(seed) {}

void Clockwork::end() {
  events_.clear();
  work_.reset();
  loop_.reset();
}

Micros Clockwork::at(Instant instant) {
  return (std::clamp(instant.value(), -far_ms, far_ms) - first_ms) * ms;
}

void Clockwork::after(Micros delay, std::function<void()> what) {
  events_.push_back({now_ + std::max<Micros>(delay, 0), numbers_++, std::move(what)});
  std::push_heap(events_.begin(), events_.end(), comes_later);
}

void Clockwork::stop(std::string why) {
  if (!stopped_) {
    stopped_ = true;
    why_ = std::move(why);
  }
}

void Clockwork::settle() {
  while (!stopped_ && loop_->poll_one() > 0) {
    if (++handlers_at_once_ > handlers_at_once_max) {
      stop("hot loop: the coroutines go on without waiting for anything");
    }
  }
}

void Clockwork::run_until(Micros until) {
  settle();
  while (!stopped_ && !events_.empty() && events_.front().at <= until) {
    std::pop_heap(events_.begin(), events_.end(), comes_later);
    const Event event = std::move(events_.back());
    events_.pop_back();
    if (event.at > now_) {
      now_ = event.at;
      handlers_at_once_ = 0;
    }
    event.what();
    settle();
  }
  if (!stopped_) {
    now_ = std::max(now_, until);
  }
}

}  // namespace flow::sim
