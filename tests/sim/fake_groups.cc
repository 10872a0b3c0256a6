#include "tests/sim/fake_groups.h"

#include <algorithm>

#include "tests/sim/hold.h"
#include "tests/sim/process.h"
#include "tests/sim/world.h"

namespace flow::sim {

using boost::asio::awaitable;

port::PartitionView FakeGroups::view_of(const Group& group, const TopicPartition& at) const {
  auto& groups = process_.world().broker.groups();
  port::PartitionView view;
  view.at = at;
  const auto bounds = groups.topics().find(at);
  if (bounds == groups.topics().end()) {
    view.problem = error(Errc::refused, "no partition " + std::to_string(at.partition) +
                                            " of topic '" + at.topic.value() + "'");
    return view;
  }
  view.start = bounds->second.start;
  view.last_stable = bounds->second.end;
  const bool unstable =
      std::any_of(group.pending.begin(), group.pending.end(),
                  [&](const Group::Pending& pending) { return pending.at == at; });
  if (unstable) {
    view.problem = error(Errc::retriable, "a transaction is pending");
  } else {
    view.committed = group.committed(at);
  }
  return view;
}

port::GroupView FakeGroups::offsets_of(const port::GroupQuery& query) const {
  World& world = process_.world();
  auto& groups = world.broker.groups();
  port::GroupView view;
  view.group = query.group;
  for (const auto& at : groups.partitions_of(query.topics)) {
    view.partitions.push_back(view_of(groups[query.group], at));
  }
  for (const auto& topic : query.topics) {
    if (!groups.has_topic(topic.name)) {
      view.problem = error(Errc::refused, "no such topic '" + topic.name.value() + "'");
    }
  }
  if (groups[query.group].forbidden) {
    view.problem =
        error(Errc::refused, "not authorised: Describe on group '" + query.group.value() + "'");
  }
  if (world.meets(world.faults().refuse)) {
    view.problem = error(Errc::retriable, "the coordinator is loading");
  }
  return view;
}

void FakeGroups::add_state(port::GroupView& view) const {
  const Group& group = process_.world().broker.groups()[view.group];
  view.held_by_us = group.is_held();
  for (const auto& [id, member] : group.members) {
    if (member.holder == 0) {
      view.members.push_back({member.client_id, "/10.0.0.1", id, {}});
    }
  }
  const bool exists = group.exists && !group.foreign_kind;
  view.state = !view.members.empty() ? port::GroupState::active
               : exists              ? port::GroupState::empty
                                     : port::GroupState::missing;
  view.state_name = !view.members.empty() ? "Stable" : exists ? "Empty" : "Dead";
}

awaitable<Result<port::Observation>> FakeGroups::observe(port::ObserveRequest request) {
  World& world = process_.world();
  const std::function<bool()> reach = [] { return true; };
  const auto asked = co_await process_.ask("observe", reach);
  if (!asked) {
    co_return error(Errc::unreachable, "look at the groups: no answer");
  }
  port::Observation seen;
  const Micros stable_by = world.clock.now() + 1 * seconds;
  for (const auto& query : request.groups) {
    auto view = offsets_of(query);
    const auto is_pending = [&view] {
      return std::any_of(view.partitions.begin(), view.partitions.end(),
                         [](const port::PartitionView& partition) {
                           return partition.problem && partition.problem->errc == Errc::retriable;
                         });
    };
    while (request.until_stable && is_pending() && world.clock.now() < stable_by) {
      co_await process_.pass(world.clock.between(5 * ms, 100 * ms));
      view = offsets_of(query);
    }
    seen.groups.push_back(std::move(view));
    co_await process_.step("observe");
  }
  for (auto& view : seen.groups) {
    add_state(view);
  }
  seen.at = world.clock.instant() + process_.skew();
  co_await process_.step("observe");
  world.on_observed(process_, seen);
  co_return seen;
}

// The broker's rebalance delay, then each group; a dead holder's session is waited out.
awaitable<bool> FakeGroups::join_all(const std::vector<port::GroupQuery>& groups, SimHold& hold) {
  World& world = process_.world();
  const Micros until = world.clock.now() + world.clock.between(5 * seconds, 25 * seconds);
  co_await process_.pass(world.clock.between(0, 3 * seconds));
  for (const auto& query : groups) {
    while (process_.reaches_broker() && !hold.join(query.group)) {
      const Group& group = world.broker.groups()[query.group];
      if (!group.is_held() || world.clock.now() >= until) {
        co_return false;
      }
      co_await process_.step("join");
      co_await process_.pass(world.clock.between(100 * ms, 1 * seconds));
    }
    if (!process_.reaches_broker()) {
      co_return false;
    }
    co_await process_.step("join");
  }
  co_return true;
}

awaitable<Result<std::shared_ptr<port::Hold>>> FakeGroups::hold(
    std::vector<port::GroupQuery> groups) {
  World& world = process_.world();
  co_await process_.step("hold");
  const auto hold = std::make_shared<SimHold>(world.broker.groups(), process_.number());
  const bool joined = co_await join_all(groups, *hold);
  if (!joined) {
    hold->leave();
    co_await process_.step("hold");
    for (const auto& query : groups) {
      const Group& group = world.broker.groups()[query.group];
      if (group.foreign_kind || group.forbidden) {
        co_return error(Errc::refused, "one of the groups is no consumer group");
      }
    }
    co_return error(Errc::retriable, "somebody else is or came in");
  }
  world.say(process_.name(), "holds");
  co_return std::shared_ptr<port::Hold>{hold};
}

awaitable<void> FakeGroups::release(std::shared_ptr<port::Hold> hold) {
  co_await process_.step("release");
  dynamic_cast<SimHold&>(*hold).leave();
  process_.world().say(process_.name(), "released");
  co_await process_.step("release");
}

}  // namespace flow::sim
