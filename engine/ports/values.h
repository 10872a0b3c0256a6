#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "schemas/error.h"
#include "schemas/ids.h"
#include "schemas/log_record.h"
#include "schemas/records.h"

// The plain values that cross a port. No Asio here, so that pure code may use them.
namespace flow::port {

using LogRecord = flow::LogRecord;

struct LogBatch {
  std::vector<LogRecord> records;  // in the order of the log; empty where nothing came in time
  LogPosition next;                // where reading goes on; beyond markers and compacted gaps
  bool at_end = false;             // everything up to the last stable offset has been read
  std::shared_ptr<const void> owner;
};

// The control topic as the broker describes it.
struct LogState {
  std::int32_t partitions = 0;
  std::int32_t replicas = 0;
  std::int32_t brokers = 0;  // of the cluster, as far as they are up
  std::string cleanup_policy;
  std::int32_t min_insync_replicas = 0;
  bool unclean_leader_election = false;
  Duration delete_retention;
  LogPosition start;           // log start
  LogPosition last_stable;     // what read_committed can see
  LogPosition high_watermark;  // larger than last_stable while a transaction is open
};

enum class Role : std::uint8_t { follower, leader };

// Whether this broker checks the made-up member of a guarded commit (design 1).
enum class GuardSupport : std::uint8_t { checked, unchecked };

struct EncodedRecord {
  std::string key;
  std::optional<std::string> value;  // absent: a tombstone
};

struct PartitionCommit {
  TopicPartition at;
  std::int64_t offset = 0;
  std::string metadata;
};

// What must still be true of a partition right before the commit; absent: no committed offset.
struct PartitionBefore {
  TopicPartition at;
  std::optional<Committed> committed;
};

// A group whose membership keeps everybody else out, until it is released (KIP-447's idea of
// fencing a consumer by its group metadata, used with a member that never fetches).
class Hold {
 public:
  Hold() = default;
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  virtual ~Hold() = default;
};

struct GroupMove {
  GroupId group;
  std::vector<PartitionCommit> commits;
  std::vector<PartitionBefore> before;  // every partition of the request, moved or not
};

// All or nothing: records on the control topic and consumer groups' offsets.
struct Transaction {
  std::vector<EncodedRecord> records;
  std::vector<GroupMove> moves;
  std::shared_ptr<Hold> hold;  // set: the groups are held; else the broker checks a made-up member
};

enum class CommitStatus : std::uint8_t {
  committed,
  aborted,  // nothing happened
  unknown,  // it may have happened: read the log back before acting
  fenced,   // this producer's epoch is over; nothing of this transaction will happen
};

enum class RefusalKind : std::uint8_t {
  has_member,  // somebody is in the group
  changed,     // its offsets are no longer the before
  permanent,   // it can never work: not authorised, no such topic, not a consumer group
};

struct GroupRefusal {
  GroupId group;
  RefusalKind kind = RefusalKind::has_member;
  std::string detail;  // for people
};

struct CommitOutcome {
  CommitStatus status = CommitStatus::aborted;
  bool producer_spent = false;         // open_producer must be called before the next commit
  std::vector<LogPosition> positions;  // committed: of each record, in the transaction's order
  std::vector<GroupRefusal> refusals;  // aborted because of these groups
  std::optional<Error> error;          // aborted, unknown or fenced for another reason
};

struct GroupQuery {
  GroupId group;
  std::vector<TopicSelection> topics;
};

struct ObserveRequest {
  std::vector<GroupQuery> groups;
  bool until_stable = false;  // read again until no transaction is pending, for 1 s at most
};

enum class GroupState : std::uint8_t {
  missing,  // no such group
  empty,    // exists, nobody in it
  active,   // has members, classic or KIP-848, whether or not they can be named
};

// What was seen of one partition for one group.
struct PartitionView {
  TopicPartition at;
  std::optional<Committed> committed;  // absent: none
  std::int64_t start = 0;              // log start
  std::int64_t last_stable = 0;
  // Set: nothing above is to be believed. Errc::retriable: try again (a transaction is pending, the
  // coordinator is loading); Errc::refused: will not change by itself (no such topic, missing
  // right).
  std::optional<Error> problem;
};

struct GroupView {
  GroupId group;
  GroupState state = GroupState::missing;
  std::string state_name;  // Kafka's own word: Stable, PreparingRebalance, Empty, Dead ...
  std::vector<Member>
      members;  // where the broker names them; our own holders are in held_by_us instead
  bool held_by_us = false;  // a holder of ours is a member (or was, and its session has not ended)
  std::optional<Error> problem;  // as PartitionView::problem, for the group or one of its topics
  std::vector<PartitionView> partitions;
};

// What was seen at one moment, of every group asked for and in their order.
struct Observation {
  Instant at;
  std::vector<GroupView> groups;
};

}  // namespace flow::port
