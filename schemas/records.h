#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "schemas/ids.h"

// What is said on the control topic: one plain struct a record kind. schemas/control.fbs is the
// wire form.
namespace flow {

enum class Through : std::uint8_t { record, cli, annotation, http };

enum class PositionKind : std::uint8_t {
  earliest,
  latest,
  offset,
  instant,
  shift,
  current,
  group,
  savepoint,
  file
};

struct PartitionOffset {
  TopicPartition at;
  std::optional<std::int64_t> offset;
  std::string metadata;
  friend bool operator==(const PartitionOffset&, const PartitionOffset&) = default;
};

// Where a group is to be moved; only the field that belongs to `kind` is set.
struct Position {
  PositionKind kind = PositionKind::earliest;
  std::optional<std::int64_t> offset;
  std::optional<Instant> instant;
  std::optional<std::int64_t> shift;
  std::string group;
  std::string savepoint;
  std::vector<PartitionOffset> partitions;
  friend bool operator==(const Position&, const Position&) = default;
};

struct TopicSelection {
  TopicName name;
  std::vector<std::int32_t> partitions;  // empty: all
  friend auto operator<=>(const TopicSelection&, const TopicSelection&) = default;
  friend bool operator==(const TopicSelection&, const TopicSelection&) = default;
};

struct Options {
  bool hold = false;
  bool atomic = false;
  bool create_group = false;
  bool clamp = false;
  bool force = false;
  friend bool operator==(const Options&, const Options&) = default;
};

struct Request {
  RequestId id;
  std::optional<Instant> asked_at;  // absent: the record's timestamp
  std::string asked_by;
  Through through = Through::record;
  std::string namespace_name;
  std::string pipeline;
  std::vector<std::string> streamlets;
  std::vector<GroupId> groups;
  std::vector<TopicSelection> topics;
  Position position;
  Options options;
  std::optional<Instant> expires_at;
  bool never_expires = false;
  friend bool operator==(const Request&, const Request&) = default;
};

struct Cancel {
  RequestId id;
  std::optional<Instant> asked_at;
  std::string asked_by;
  friend bool operator==(const Cancel&, const Cancel&) = default;
};

// A consumer group with the topics it reads, as the topology resolved it.
struct Target {
  GroupId group;
  std::string streamlet;
  std::string inlet;
  std::vector<TopicSelection> topics;
  std::string cluster;  // empty: the control topic's own
  friend bool operator==(const Target&, const Target&) = default;
};

enum class Verdict : std::uint8_t { waiting, passed, closed };

// Why a request waits, or waited.
struct Reason {
  std::string text;
  Instant since;
  std::optional<Instant> until;  // absent: it still holds
  GroupId group;                 // empty: of the whole request
  bool permanent = false;        // it can never work
  friend bool operator==(const Reason&, const Reason&) = default;
};

struct Member {
  std::string client_id;
  std::string host;
  std::string member_id;
  std::string instance_id;  // of a static member
  friend bool operator==(const Member&, const Member&) = default;
};

struct GroupSeen {
  GroupId group;
  std::string state;
  std::vector<Member> members;
  friend bool operator==(const GroupSeen&, const GroupSeen&) = default;
};

struct WorkloadSeen {
  std::string streamlet;
  std::optional<std::int32_t> replicas;
  std::optional<std::int32_t> pods;
  friend bool operator==(const WorkloadSeen&, const WorkloadSeen&) = default;
};

struct Seen {
  Instant at;
  std::vector<GroupSeen> groups;
  std::vector<WorkloadSeen> workloads;
  friend bool operator==(const Seen&, const Seen&) = default;
};

// The whole request as it will be carried out. The first guard record accepts; only what it holds
// is executed.
struct Guard {
  RequestId id;
  std::optional<Request> request;  // absent only where the request could not be read
  std::string digest;
  std::vector<Target> targets;
  Verdict verdict = Verdict::waiting;
  std::vector<Reason> reasons;  // oldest first, the last 32
  std::optional<Seen> seen;
  friend bool operator==(const Guard&, const Guard&) = default;
};

struct Committed {
  std::int64_t offset = 0;
  std::string metadata;
  friend bool operator==(const Committed&, const Committed&) = default;
};

struct PartitionMove {
  TopicPartition at;
  std::optional<Committed> before;  // absent: the group had no committed offset there
  std::optional<std::int64_t> asked;
  std::optional<Committed> after;  // absent: left as it was
  std::string remark;
  friend bool operator==(const PartitionMove&, const PartitionMove&) = default;
};

struct PartitionIdentity {
  std::int32_t partition = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::optional<std::int64_t> record_offset;
  std::optional<Instant> record_timestamp;
  friend bool operator==(const PartitionIdentity&, const PartitionIdentity&) = default;
};

struct TopicIdentity {
  TopicName topic;
  std::vector<PartitionIdentity> partitions;
  friend bool operator==(const TopicIdentity&, const TopicIdentity&) = default;
};

// What became of one group: moved (ResetOffsets), or failed with Kafka's reason
// (ResetOffsetsFailed).
struct GroupResult {
  RequestId id;
  GroupId group;
  LeaderNumber leader;
  std::vector<PartitionMove> moves;
  std::vector<TopicIdentity> identities;
  std::string failure;  // set: failed
  std::string request_digest;
  friend bool operator==(const GroupResult&, const GroupResult&) = default;
};

struct Intent {
  RequestId id;
  std::string cluster;
  std::string step;
  Instant at;
  std::vector<GroupResult> groups;
  bool withdrawn = false;
  friend bool operator==(const Intent&, const Intent&) = default;
};

enum class DoneOutcome : std::uint8_t {
  completed,
  completed_with_failures,
  refused,
  cancelled,
  expired,
  left
};

struct Done {
  RequestId id;
  LeaderNumber leader;
  DoneOutcome outcome = DoneOutcome::completed;
  std::string reason;
  Instant at;
  std::string engine;
  friend bool operator==(const Done&, const Done&) = default;
};

// What became of the offsets after the move.
enum class Standing : std::uint8_t {
  stands,      // as the result says, nobody in the group
  started,     // members were seen; they may have moved on
  superseded,  // other offsets, and no member seen
  gone,        // expired, or the topic was deleted
};

struct Verified {
  RequestId id;
  GroupId group;
  Standing standing = Standing::stands;
  bool last = false;
  Instant at;
  bool contested = false;  // a member was in the group right after the commit
  bool unstable = false;   // the read after the commit was not stable within 1 s
  std::vector<Member> members;
  std::vector<PartitionOffset> offsets;  // where the group stands otherwise than the result's after
  friend bool operator==(const Verified&, const Verified&) = default;
};

struct EngineStarted {
  std::string engine;
  std::string host;
  std::string version;
  Instant since;
  std::string stop_older_than;
  friend bool operator==(const EngineStarted&, const EngineStarted&) = default;
};

// Birth record of a control topic.
struct LogBorn {
  std::string birth;
  Instant at;
  friend bool operator==(const LogBorn&, const LogBorn&) = default;
};

struct AnnotationsSettled {
  bool settled = false;
  Instant at;
  friend bool operator==(const AnnotationsSettled&, const AnnotationsSettled&) = default;
};

using Record = std::variant<Request, Cancel, Guard, Intent, GroupResult, Done, Verified,
                            EngineStarted, LogBorn, AnnotationsSettled>;

}  // namespace flow
