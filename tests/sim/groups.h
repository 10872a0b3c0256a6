#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/ports/values.h"
#include "tests/sim/clockwork.h"

namespace flow::sim {

struct Member {
  std::string client_id;
  int holder = 0;  // the process whose hold this is; 0: a consumer
};

struct Bounds {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::set<std::int64_t> starts;  // every one that there ever was
};

// A consumer group as its coordinator keeps it.
struct Group {
  struct Stored {
    Committed committed;
    std::uint64_t appended = 0;  // order of append: a later plain commit outlives a transaction's
    int transaction = 0;         // that brought it; 0: a plain commit
    Micros visible_since = 0;
  };
  struct Pending {
    int transaction = 0;
    TopicPartition at;
    Stored stored;
  };

  std::map<TopicPartition, Stored> offsets;
  std::vector<Pending> pending;
  std::map<std::string, Member> members;  // by member id
  bool exists = false;                    // had members or offsets once
  bool foreign_kind = false;  // a share group: not listed, and no offsets can be committed
  bool forbidden = false;     // not authorised

  bool is_held() const;
  bool has_consumer() const;
  std::optional<Committed> committed(const TopicPartition& at) const;
};

// The offsets that one transaction sent for one group, and how the group stood at that moment: from
// here on they are ordered among all other commits of this group.
struct SentOffsets {
  GroupId group;
  std::vector<port::PartitionCommit> commits;
  std::map<TopicPartition, std::optional<Committed>> stood;
  std::vector<std::string> consumers;  // client ids of members other than the holder
  bool held = false;
};

// Consumer groups and topics of the cluster.
class Groups {
 public:
  explicit Groups(Clockwork& clock) : clock_(clock) {}

  Group& operator[](const GroupId& id) { return groups_[id]; }
  std::map<GroupId, Group>& all() { return groups_; }
  std::map<TopicPartition, Bounds>& topics() { return topics_; }
  // Partitions of the selected topics, as they are now.
  std::vector<TopicPartition> partitions_of(const std::vector<TopicSelection>& topics) const;
  bool has_topic(const TopicName& topic) const;

  // A plain commit, of a member, or of nobody: then only while no member is there.
  bool commit(const GroupId& id, const std::string& member, const TopicPartition& at,
              Committed committed);
  void erase_offsets(const GroupId& id);

  std::string new_member_id(const std::string& prefix) {
    return prefix + "-" + std::to_string(++member_ids_);
  }

  SentOffsets send(const GroupId& id, const std::vector<port::PartitionCommit>& commits,
                   int transaction, bool held);
  // The marker that ends `transaction` in this group's offsets.
  void end(const GroupId& id, int transaction, bool committed);

 private:
  Clockwork& clock_;
  std::map<GroupId, Group> groups_;
  std::map<TopicPartition, Bounds> topics_;
  std::uint64_t appended_ = 0;
  std::uint64_t member_ids_ = 0;
};

}  // namespace flow::sim
