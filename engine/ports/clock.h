#pragma once

#include <boost/asio/awaitable.hpp>

#include "schemas/ids.h"

namespace flow::port {

// The only clock there is; virtual in tests.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() const = 0;
  // Returns at or after `at`, or at once when the coroutine is cancelled.
  virtual boost::asio::awaitable<void> sleep_until(Instant at) = 0;
};

}  // namespace flow::port
