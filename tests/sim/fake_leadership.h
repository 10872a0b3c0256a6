#pragma once

#include "engine/ports/control_log.h"

namespace flow::sim {

class Process;

// port::Leadership over the simulated engine group. What it tells is what this process' client has
// heard: a paused one, and one whose session ended, hears late.
class FakeLeadership : public port::Leadership {
 public:
  explicit FakeLeadership(Process& process) : process_(process) {}

  boost::asio::awaitable<port::Role> changed_from(port::Role current) override;
  boost::asio::awaitable<Result<bool>> confirm(LogPosition position) override;
  boost::asio::awaitable<Result<port::GuardSupport>> probe_guard() override;
  boost::asio::awaitable<void> leave() override;

 private:
  bool owns() const;

  Process& process_;
  bool left_ = false;
};

}  // namespace flow::sim
