#pragma once

#include <memory>

#include "connectors/kafka/control_log.h"
#include "engine/ports/group_gateway.h"

namespace flow::kafka {

// Consumer groups of the control topic's cluster; every call is blocking work on the pool.
class KafkaGroups final : public port::GroupGateway {
 public:
  explicit KafkaGroups(std::shared_ptr<Shared> shared) : shared_{std::move(shared)} {}

  boost::asio::awaitable<Result<port::Observation>> observe(port::ObserveRequest request) override;
  boost::asio::awaitable<Result<std::shared_ptr<port::Hold>>> hold(
      std::vector<port::GroupQuery> groups) override;
  boost::asio::awaitable<void> release(std::shared_ptr<port::Hold> hold) override;

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace flow::kafka
