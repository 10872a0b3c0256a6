#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "connectors/kafka/blocking_pool.h"
#include "connectors/kafka/client_config.h"
#include "connectors/kafka/group_membership.h"
#include "engine/ports/values.h"

namespace flow::kafka {

// Groups of which we are the only member: whoever joins meanwhile waits until we leave, since
// librdkafka gives a member's assignment up only when it is told to, and here nobody tells it. It
// keeps itself alive.
class GroupHold final : public port::Hold {
 public:
  // Joins every group, side by side. Blocks. Errc::retriable: somebody else is or came in, or it
  // took too long; Errc::refused: a missing right or topic. `lookups` counts the topics'
  // partitions. After an error everything joined has been left again.
  static Result<std::shared_ptr<GroupHold>> join(const ClientConfig& config,
                                                 const std::string& client_id,
                                                 const Connection& lookups,
                                                 const std::vector<port::GroupQuery>& groups,
                                                 std::shared_ptr<BlockingPool> pool,
                                                 const Deadline& deadline);

  // Leaves on the pool, where that has not been done: nothing waits for it here.
  ~GroupHold() override;

  // The metadata of our membership in `group`; nothing where it is not held.
  const rd_kafka_consumer_group_metadata_t* metadata_of(const GroupId& group) const;

  // Leaves every group, side by side. Blocks until the brokers have been told, or the deadline has
  // passed; then the sessions end by themselves.
  void leave(const Deadline& deadline);

 private:
  struct Members;

  explicit GroupHold(std::shared_ptr<BlockingPool> pool);
  Result<void> subscribe(const ClientConfig& config, const std::string& client_id,
                         const Connection& lookups, const std::vector<port::GroupQuery>& groups,
                         const Deadline& deadline);
  Result<void> await_assignments(const Deadline& deadline);
  Result<void> take(std::size_t number, const GroupMembership::Change& change);

  std::shared_ptr<BlockingPool> pool_;
  std::shared_ptr<Members> members_;
  std::map<GroupId, GroupMetadata> metadata_;
};

}  // namespace flow::kafka
