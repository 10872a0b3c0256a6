#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "connectors/kafka/connection.h"
#include "schemas/ids.h"

namespace flow::kafka {

// Membership in one consumer group that never fetches: it accepts its assignment without taking up
// a single partition, so no fetcher is ever started, and it stays alive by librdkafka's own
// heartbeats.
//
// One caller at a time. Nothing here blocks but open (no network) and the destructor (threads
// ending).
class GroupMembership {
 public:
  struct Assigned {
    std::vector<TopicPartition> partitions;  // all that it owns now
  };
  struct Revoked {
    std::vector<TopicPartition> left;  // what it still owns
  };
  // The group speaks another protocol, or is none of consumers: joining again changes nothing.
  struct OtherProtocol {};
  using Change = std::variant<Assigned, Revoked, OtherProtocol, Error>;

  static Result<std::unique_ptr<GroupMembership>> open(const ClientConfig& config,
                                                       const std::string& client_id, GroupId group,
                                                       Assignor assignor,
                                                       Duration max_poll_interval);
  ~GroupMembership();
  GroupMembership(const GroupMembership&) = delete;
  GroupMembership& operator=(const GroupMembership&) = delete;

  const GroupId& group() const { return group_; }
  const Connection& connection() const { return *connection_; }

  // From now on `bytes` are written to the descriptor when something has happened; then call
  // next().
  void wake(int descriptor, const std::string& bytes);

  // Begins to join.
  Result<void> subscribe(const std::vector<TopicName>& topics);

  // What has happened since the last call; nothing: nothing more. An error says why it could not
  // join yet. What was Assigned has to be accepted, and what was Revoked given up, before the group
  // can go on.
  std::optional<Change> next();

  void accept();
  void give_up();

  // The metadata that shows the broker this membership; nothing before the first assignment.
  GroupMetadata metadata() const;

  // Commits one offset as this member. False: the broker says that we are no member (any more).
  Result<bool> commit(const TopicPartition& at, std::int64_t offset, const Deadline& deadline);

  // Begins to leave; next() has to be called until has_left().
  void begin_to_leave();
  bool has_left() const;

 private:
  explicit GroupMembership(GroupId group) : group_{std::move(group)} {}

  bool is_cooperative() const;

  GroupId group_;
  std::vector<TopicPartition> owned_;
  std::shared_ptr<Connection> connection_;
  QueueHandle queue_;
  bool is_leaving_ = false;
};

}  // namespace flow::kafka
