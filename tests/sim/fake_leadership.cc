#include "tests/sim/fake_leadership.h"

#include "tests/sim/process.h"
#include "tests/sim/world.h"

namespace flow::sim {

using boost::asio::awaitable;

bool FakeLeadership::owns() const { return process_.world().broker.owner() == process_.number(); }

awaitable<port::Role> FakeLeadership::changed_from(port::Role current) {
  World& world = process_.world();
  process_.count_call();
  for (;;) {
    if (process_.reaches_broker()) {
      const auto role = owns() ? port::Role::leader : port::Role::follower;
      if (!left_ && !world.broker.is_member(process_.number())) {
        world.broker.join(process_.number());
      }
      if (role != current) {
        world.say(process_.name(),
                  role == port::Role::leader ? "is told: leader" : "is told: follower");
        world.on_told(process_, role);
        co_return role;
      }
    }
    const bool passed = co_await process_.pass(world.clock.between(50 * ms, 600 * ms));
    if (!passed) {
      co_return current;
    }
  }
}

awaitable<Result<bool>> FakeLeadership::confirm(LogPosition /*position*/) {
  const std::function<bool()> request = [this] { return owns(); };
  const auto owned = co_await process_.ask("confirm", request);
  if (!owned) {
    co_return error(Errc::unreachable, "commit to the engine group: no answer");
  }
  co_return *owned;
}

awaitable<Result<port::GuardSupport>> FakeLeadership::probe_guard() {
  World& world = process_.world();
  const auto epoch = process_.log().epoch();
  const std::function<Answer()> request = [&world, epoch] {
    if (epoch != world.broker.epoch()) {
      return Answer::fenced;
    }
    return world.broker.checks_guard ? Answer::has_member : Answer::ok;
  };
  const auto answer = co_await process_.ask("probe guard", request);
  if (answer == Answer::ok) {
    co_return port::GuardSupport::unchecked;
  }
  if (answer == Answer::has_member) {
    co_return port::GuardSupport::checked;
  }
  process_.log().spend();
  co_return error(answer ? Errc::fenced : Errc::unreachable, "probe the guard: no answer");
}

awaitable<void> FakeLeadership::leave() {
  left_ = true;
  World& world = process_.world();
  const std::function<bool()> request = [&world, number = process_.number()] {
    world.broker.drop(number);
    return true;
  };
  co_await process_.ask("leave", request);
}

}  // namespace flow::sim
