#pragma once

#include "engine/ports/clock.h"

namespace flow::app {

// The machine's clocks: wall time for what is recorded, steady time for what is waited for, so that
// a jump of the wall clock makes nobody wait longer.
class SystemClock : public port::Clock {
 public:
  Instant now() const override;
  boost::asio::awaitable<void> sleep_until(Instant at) override;
};

}  // namespace flow::app
