#pragma once

#include <memory>

#include "connectors/kafka/control_log.h"
#include "connectors/kafka/group_membership.h"
#include "engine/ports/control_log.h"

namespace flow::kafka {

// Membership in the engine group: who is assigned partition 0 of the control topic leads.
// changed_from answers the group's rebalances, so one coroutine has to wait in it nearly always;
// another engine can only join, and this one only learns that it was deposed, while it does.
class GroupLeadership final : public port::Leadership {
 public:
  GroupLeadership(const boost::asio::any_io_executor& loop, std::shared_ptr<Shared> shared,
                  std::string member_client_id);

  boost::asio::awaitable<port::Role> changed_from(port::Role current) override;
  boost::asio::awaitable<Result<bool>> confirm(LogPosition position) override;
  boost::asio::awaitable<Result<port::GuardSupport>> probe_guard() override;
  boost::asio::awaitable<void> leave() override;

 private:
  void ensure_joined();
  bool take_change();
  void tell(const Error& problem);

  std::shared_ptr<Shared> shared_;
  std::string client_id_;
  EventPump pump_;  // outlives the membership, which rings it
  std::shared_ptr<GroupMembership> membership_;
  port::Role role_ = port::Role::follower;
  bool is_left_ = false;
  std::string told_;
};

}  // namespace flow::kafka
