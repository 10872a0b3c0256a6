#pragma once

#include <librdkafka/rdkafka.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/ports/values.h"
#include "schemas/error.h"

// What a group's description and the listing of groups say together. Pure.
//
// librdkafka 2.0.2 describes a live KIP-848 group as Dead with no members; only the listing knows
// it. A group that is in neither and has no offsets does not exist.
namespace flow::kafka {

using StateCode = rd_kafka_consumer_group_state_t;

struct Described {
  StateCode state = RD_KAFKA_CONSUMER_GROUP_STATE_UNKNOWN;
  std::vector<Member> members;
};

struct StateSeen {
  port::GroupState state = port::GroupState::missing;
  std::string name;             // Kafka's own word
  std::vector<Member> members;  // of others
  bool held_by_us = false;
};

// Whether only the listing knows the group's state.
bool needs_the_listing(const Described& described);

// `listed` absent: the listing does not have the group. `has_offsets`: some committed offset was
// seen.
StateSeen judge_state(const Described& described, std::optional<StateCode> listed,
                      bool has_offsets);

}  // namespace flow::kafka
