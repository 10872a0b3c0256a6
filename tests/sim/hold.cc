#include "tests/sim/hold.h"

namespace flow::sim {

bool SimHold::join(const GroupId& id) {
  Group& group = groups_[id];
  if (!group.members.empty() || group.foreign_kind || group.forbidden) {
    return false;
  }
  std::string member = groups_.new_member_id("holder");
  group.exists = true;
  group.members[member] = Member{"flow-hold", process_};
  members_[id] = std::move(member);
  return true;
}

void SimHold::leave() {
  for (const auto& [id, member] : members_) {
    groups_[id].members.erase(member);
  }
  members_.clear();
}

std::string SimHold::member_of(const GroupId& group) const {
  const auto found = members_.find(group);
  return found == members_.end() ? std::string{"nobody"} : found->second;
}

}  // namespace flow::sim
