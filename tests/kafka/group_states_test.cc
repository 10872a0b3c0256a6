#include "connectors/kafka/group_states.h"

#include <catch2/catch.hpp>

namespace flow::kafka {
namespace {

using State = port::GroupState;

constexpr auto unknown = RD_KAFKA_CONSUMER_GROUP_STATE_UNKNOWN;
constexpr auto preparing = RD_KAFKA_CONSUMER_GROUP_STATE_PREPARING_REBALANCE;
constexpr auto completing = RD_KAFKA_CONSUMER_GROUP_STATE_COMPLETING_REBALANCE;
constexpr auto stable = RD_KAFKA_CONSUMER_GROUP_STATE_STABLE;
constexpr auto dead = RD_KAFKA_CONSUMER_GROUP_STATE_DEAD;
constexpr auto empty = RD_KAFKA_CONSUMER_GROUP_STATE_EMPTY;

const Member somebody{"console-consumer", "127.0.0.1", "id-1", ""};
const Member holder{"flow-hold@flow-control", "127.0.0.1", "id-2", ""};

}  // namespace

TEST_CASE("a described group is what its description says") {
  const auto [code, state, name] = GENERATE(table<StateCode, State, std::string>({
      {empty, State::empty, "Empty"},
      {stable, State::active, "Stable"},
      {preparing, State::active, "PreparingRebalance"},
      {completing, State::active, "CompletingRebalance"},
      {unknown, State::active, "Unknown"},
  }));
  const auto seen = judge_state({code, {}}, std::nullopt, false);
  CHECK(seen.state == state);
  CHECK(seen.name == name);
}

TEST_CASE("a group that is described as dead is what the listing says") {
  using Listed = std::optional<StateCode>;
  const auto [listed, has_offsets, state] = GENERATE(table<Listed, bool, State>({
      {std::nullopt, false, State::missing},
      {std::nullopt, true, State::empty},
      {dead, false, State::missing},
      {empty, false, State::empty},
      {stable, false, State::active},  // KIP-848
      {unknown, true, State::active},  // KIP-848, a state that librdkafka has no word for
      {preparing, false, State::active},
  }));
  CHECK(judge_state({dead, {}}, listed, has_offsets).state == state);
}

TEST_CASE("our own holders are no members") {
  const auto alone = judge_state({stable, {holder}}, stable, true);
  CHECK(alone.state == State::empty);
  CHECK(alone.held_by_us);
  CHECK(alone.members.empty());
  const auto with_joiner = judge_state({preparing, {holder, somebody}}, preparing, true);
  CHECK(with_joiner.state == State::active);
  CHECK(with_joiner.held_by_us);
  CHECK(with_joiner.members == std::vector<Member>{somebody});
}

}  // namespace flow::kafka
