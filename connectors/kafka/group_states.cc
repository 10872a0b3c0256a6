#include "connectors/kafka/group_states.h"

#include "connectors/kafka/group_look.h"

namespace flow::kafka {
namespace {

StateSeen judge_unnamed(std::optional<StateCode> listed, bool has_offsets) {
  StateSeen seen;
  const StateCode state = listed.value_or(RD_KAFKA_CONSUMER_GROUP_STATE_DEAD);
  seen.name = rd_kafka_consumer_group_state_name(state);
  if (state == RD_KAFKA_CONSUMER_GROUP_STATE_EMPTY) {
    seen.state = port::GroupState::empty;
  } else if (state == RD_KAFKA_CONSUMER_GROUP_STATE_DEAD) {
    seen.state = has_offsets ? port::GroupState::empty : port::GroupState::missing;
  } else {
    seen.state = port::GroupState::active;
  }
  return seen;
}

}  // namespace

bool needs_the_listing(const Described& described) {
  return described.state == RD_KAFKA_CONSUMER_GROUP_STATE_DEAD && described.members.empty();
}

StateSeen judge_state(const Described& described, std::optional<StateCode> listed,
                      bool has_offsets) {
  if (needs_the_listing(described)) {
    return judge_unnamed(listed, has_offsets);
  }
  StateSeen seen;
  seen.name = rd_kafka_consumer_group_state_name(described.state);
  for (const auto& member : described.members) {
    if (member.client_id.starts_with(holder_client_id)) {
      seen.held_by_us = true;
    } else {
      seen.members.push_back(member);
    }
  }
  // A group that is rebalancing before its first member is admitted names nobody, and is in use all
  // the same.
  const bool only_ours = seen.held_by_us && seen.members.empty();
  seen.state = described.state == RD_KAFKA_CONSUMER_GROUP_STATE_EMPTY || only_ours
                   ? port::GroupState::empty
                   : port::GroupState::active;
  return seen;
}

}  // namespace flow::kafka
