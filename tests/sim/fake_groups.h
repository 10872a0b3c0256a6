#pragma once

#include "engine/ports/group_gateway.h"
#include "tests/sim/groups.h"

namespace flow::sim {

class Process;
class SimHold;

// port::GroupGateway over the simulated groups. Offsets and states are seen at different moments,
// as they are with a broker.
class FakeGroups : public port::GroupGateway {
 public:
  explicit FakeGroups(Process& process) : process_(process) {}

  boost::asio::awaitable<Result<port::Observation>> observe(port::ObserveRequest request) override;
  boost::asio::awaitable<Result<std::shared_ptr<port::Hold>>> hold(
      std::vector<port::GroupQuery> groups) override;
  boost::asio::awaitable<void> release(std::shared_ptr<port::Hold> hold) override;

 private:
  port::PartitionView view_of(const Group& group, const TopicPartition& at) const;
  port::GroupView offsets_of(const port::GroupQuery& query) const;
  void add_state(port::GroupView& view) const;
  boost::asio::awaitable<bool> join_all(const std::vector<port::GroupQuery>& groups, SimHold& hold);

  Process& process_;
};

}  // namespace flow::sim
