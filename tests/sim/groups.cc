#include "tests/sim/groups.h"

#include <algorithm>

namespace flow::sim {

bool Group::is_held() const {
  return std::any_of(members.begin(), members.end(),
                     [](const auto& entry) { return entry.second.holder != 0; });
}

bool Group::has_consumer() const {
  return std::any_of(members.begin(), members.end(),
                     [](const auto& entry) { return entry.second.holder == 0; });
}

std::optional<Committed> Group::committed(const TopicPartition& at) const {
  const auto found = offsets.find(at);
  return found == offsets.end() ? std::nullopt : std::optional{found->second.committed};
}

std::vector<TopicPartition> Groups::partitions_of(const std::vector<TopicSelection>& topics) const {
  std::set<TopicPartition> chosen;
  for (const auto& topic : topics) {
    for (const auto& [at, bounds] : topics_) {
      if (at.topic == topic.name && topic.partitions.empty()) {
        chosen.insert(at);
      }
    }
    for (const auto partition : topic.partitions) {
      chosen.insert({topic.name, partition});
    }
  }
  return {chosen.begin(), chosen.end()};
}

bool Groups::has_topic(const TopicName& topic) const { return topics_.contains({topic, 0}); }

bool Groups::commit(const GroupId& id, const std::string& member, const TopicPartition& at,
                    Committed committed) {
  Group& group = groups_[id];
  const bool known = member.empty() ? group.members.empty() : group.members.contains(member);
  if (!known || group.foreign_kind) {
    return false;
  }
  group.exists = true;
  group.offsets[at] = {std::move(committed), ++appended_, 0, clock_.now()};
  return true;
}

void Groups::erase_offsets(const GroupId& id) {
  Group& group = groups_[id];
  if (group.pending.empty() && group.members.empty()) {
    group.offsets.clear();
    group.exists = false;
  }
}

SentOffsets Groups::send(const GroupId& id, const std::vector<port::PartitionCommit>& commits,
                         int transaction, bool held) {
  Group& group = groups_[id];
  SentOffsets sent{id, commits, {}, {}, held};
  for (const auto& [member_id, member] : group.members) {
    if (member.holder == 0) {
      sent.consumers.push_back(member.client_id);
    }
  }
  // Also partitions that are left as they are: what the result says of them is checked too.
  for (const auto& [at, stored] : group.offsets) {
    sent.stood[at] = stored.committed;
  }
  for (const auto& commit : commits) {
    group.pending.push_back(
        {transaction,
         commit.at,
         {Committed{commit.offset, commit.metadata}, ++appended_, transaction, 0}});
  }
  group.exists = true;
  return sent;
}

void Groups::end(const GroupId& id, int transaction, bool committed) {
  Group& group = groups_[id];
  for (const auto& pending : group.pending) {
    if (pending.transaction != transaction || !committed) {
      continue;
    }
    // As the group coordinator does it: what was appended later than ours stays.
    const auto known = group.offsets.find(pending.at);
    if (known == group.offsets.end() || known->second.appended < pending.stored.appended) {
      group.offsets[pending.at] = pending.stored;
      group.offsets[pending.at].visible_since = clock_.now();
    }
  }
  std::erase_if(group.pending,
                [&](const Group::Pending& pending) { return pending.transaction == transaction; });
}

}  // namespace flow::sim
