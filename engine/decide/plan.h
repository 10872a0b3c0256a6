#pragma once

#include <vector>

#include "engine/ports/values.h"
#include "schemas/records.h"

namespace flow::decide {

// One group's move, worked out from what was seen.
struct Plan {
  std::vector<PartitionMove> moves;
  std::vector<TopicIdentity> identities;
};

// Takes the position that was asked and one group's view without problems; returns where each
// partition goes. Offsets are absolute, never negative, and never beyond the last stable offset.
Plan plan_group(const Position& position, const port::GroupView& view);

}  // namespace flow::decide
