#include "engine/app/system_clock.h"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

namespace flow::app {

Instant SystemClock::now() const {
  return Instant{std::chrono::duration_cast<std::chrono::milliseconds>(
                     std::chrono::system_clock::now().time_since_epoch())
                     .count()};
}

boost::asio::awaitable<void> SystemClock::sleep_until(Instant at) {
  // Nobody waits for a century: a far instant must not overflow the timer.
  constexpr std::int64_t longest_ms = std::int64_t{100} * 365 * 24 * 3'600 * 1'000;
  const std::int64_t now_ms = now().value();
  const std::int64_t wait_ms = at.value() <= now_ms ? 0 : std::min(longest_ms, at.value() - now_ms);
  boost::asio::steady_timer timer{co_await boost::asio::this_coro::executor};
  timer.expires_after(std::chrono::milliseconds{wait_ms});
  boost::system::error_code ignored;
  co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
}

}  // namespace flow::app
