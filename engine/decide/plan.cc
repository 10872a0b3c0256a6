#include "engine/decide/plan.h"

#include <algorithm>

#include "engine/decide/resolve.h"
#include "schemas/error.h"

namespace flow::decide {
namespace {

PartitionMove plan_partition(const Position& position, const port::PartitionView& view) {
  FLOW_ASSERT(is_supported(position), "position " + std::string{to_string(position.kind)});
  FLOW_ASSERT(view.start >= 0 && view.start <= view.last_stable,
              std::to_string(view.start) + " " + std::to_string(view.last_stable));
  PartitionMove move;
  move.at = view.at;
  move.before = view.committed;
  move.after = Committed{view.start, {}};
  if (view.start == view.last_stable) {
    move.remark = "empty";
  }
  return move;
}

void add_identity(std::vector<TopicIdentity>& identities, const port::PartitionView& view) {
  auto topic = std::find_if(identities.begin(), identities.end(), [&](const TopicIdentity& known) {
    return known.topic == view.at.topic;
  });
  if (topic == identities.end()) {
    topic = identities.insert(identities.end(), TopicIdentity{view.at.topic, {}});
  }
  topic->partitions.push_back({view.at.partition, view.start, view.last_stable, {}, {}});
}

}  // namespace

Plan plan_group(const Position& position, const port::GroupView& view) {
  Plan plan;
  for (const auto& partition : view.partitions) {
    plan.moves.push_back(plan_partition(position, partition));
    add_identity(plan.identities, partition);
  }
  return plan;
}

}  // namespace flow::decide
