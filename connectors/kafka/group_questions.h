#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "connectors/kafka/connection.h"
#include "connectors/kafka/group_states.h"
#include "schemas/ids.h"
#include "schemas/records.h"

// Questions about groups that are asked all at once and answered on one queue.
namespace flow::kafka {

struct OffsetSeen {
  std::optional<Committed> committed;
  rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
};

struct OffsetsSeen {
  std::map<TopicPartition, OffsetSeen> partitions;
  std::optional<Error> problem;  // of the whole group
  bool is_unstable() const;
};

struct OffsetsQuestion {
  GroupId group;
  std::vector<TopicPartition> partitions;  // empty: every partition that has an offset
};

// Reads the committed offsets of every group, side by side (librdkafka 2.0.2 takes one group a
// call), in the questions' order. `require_stable`: an offset under a pending transaction is an
// error of its partition (UNSTABLE_OFFSET_COMMIT); it takes explicit partitions for that.
std::vector<OffsetsSeen> ask_offsets(const Connection& connection,
                                     const std::vector<OffsetsQuestion>& questions,
                                     bool require_stable, const Deadline& deadline);

struct GroupsSeen {
  std::map<GroupId, Result<Described>> described;
  std::map<GroupId, StateCode> listed;   // where a description did not say enough
  std::optional<Error> listing_problem;  // some broker did not list its groups
};

// Describes the groups, and lists all groups where a description does not say enough: a listing
// costs the broker as much as it has groups.
GroupsSeen ask_groups(const Connection& connection, const std::vector<GroupId>& groups,
                      const Deadline& deadline);

// Where one partition is assigned: the member that owns it.
std::optional<Member> owner_of(const rd_kafka_ConsumerGroupDescription_t* group,
                               const TopicPartition& at);

// Every member that a description names.
std::vector<Member> members_of(const rd_kafka_ConsumerGroupDescription_t* group);

// Describes one group; the event owns the description.
Result<EventHandle> describe_group(const Connection& connection, const GroupId& group,
                                   const Deadline& deadline);

}  // namespace flow::kafka
