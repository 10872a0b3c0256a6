#include "connectors/kafka/engine_ports.h"

#include <utility>

#include "connectors/kafka/control_log.h"
#include "connectors/kafka/gateway.h"
#include "connectors/kafka/group_look.h"
#include "connectors/kafka/leadership.h"

namespace flow::kafka {
namespace {

// Reading, one transaction, one hold, and looks at several requests' groups, all at once.
constexpr std::size_t threads = 8;

class Ports final : public EnginePorts {
 public:
  Ports(const boost::asio::any_io_executor& loop, std::shared_ptr<Shared> shared,
        const std::string& member_client_id)
      : shared_{std::move(shared)},
        log_{loop, shared_},
        leadership_{loop, shared_, member_client_id},
        groups_{shared_} {}

  ~Ports() override { shared_->pool->join(); }

  port::ControlLog& log() override { return log_; }
  port::Leadership& leadership() override { return leadership_; }
  port::GroupGateway& groups() override { return groups_; }

 private:
  std::shared_ptr<Shared> shared_;
  KafkaLog log_;
  GroupLeadership leadership_;
  KafkaGroups groups_;
};

}  // namespace

Result<std::unique_ptr<EnginePorts>> EnginePorts::make(boost::asio::any_io_executor loop,
                                                       ClientConfig config,
                                                       EngineIdentity identity) {
  auto shared = std::make_shared<Shared>();
  shared->config = std::move(config);
  shared->topic = std::move(identity.control_topic);
  shared->client_id = "flow-engine@" + identity.host + ":" + identity.engine_id;
  shared->pool = std::make_shared<BlockingPool>(threads);
  const GroupId group = engine_group_of(shared->topic);
  BOOST_OUTCOME_TRY(shared->committed,
                    Connection::open(RD_KAFKA_CONSUMER, shared->config, shared->client_id,
                                     admin_settings("read_committed", group)));
  BOOST_OUTCOME_TRY(shared->uncommitted,
                    Connection::open(RD_KAFKA_CONSUMER, shared->config, shared->client_id,
                                     admin_settings("read_uncommitted", group)));
  const std::string member_client_id = shared->client_id;
  return std::unique_ptr<EnginePorts>{
      std::make_unique<Ports>(loop, std::move(shared), member_client_id)};
}

}  // namespace flow::kafka
