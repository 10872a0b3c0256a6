#include <mutex>
#include <utility>

#include "connectors/kafka/client.h"
#include "connectors/kafka/connection.h"
#include "connectors/kafka/group_look.h"
#include "connectors/kafka/lookups.h"
#include "connectors/kafka/topic_admin.h"

namespace flow::kafka {
namespace {

// What passes by itself soon after a topic was made; a missing right does not.
bool is_about_a_new_topic(const Error& problem) {
  return problem.errc == Errc::retriable || problem.detail.starts_with("no such topic");
}

// Only ever looked up. Who may not even do that reads the same: librdkafka's own lookup fails,
// which nobody waits for.
const GroupId lookup_group{"flow-cli"};

class ClusterAdmin final : public Admin {
 public:
  ClusterAdmin(ClientConfig config, std::string client_id, std::shared_ptr<Connection> connection)
      : config_{std::move(config)},
        client_id_{std::move(client_id)},
        connection_{std::move(connection)} {}

  Result<port::LogState> describe_log(const TopicName& topic, Duration deadline) override {
    const Deadline until{deadline};
    BOOST_OUTCOME_TRY(const auto uncommitted, uncommitted_connection());
    return kafka::describe_log(*connection_, *uncommitted, topic, until);
  }

  Result<port::LogState> create_log(const TopicName& topic, std::int32_t replicas,
                                    Duration deadline) override {
    const Deadline until{deadline};
    BOOST_OUTCOME_TRY(kafka::create_log(*connection_, topic, replicas, until));
    BOOST_OUTCOME_TRY(const auto uncommitted, uncommitted_connection());
    // Brokers hear of a new topic one after the other, and its leader comes a moment later.
    for (Backoff backoff;;) {
      auto state = kafka::describe_log(*connection_, *uncommitted, topic, until);
      if (state || !is_about_a_new_topic(state.error()) || !backoff.pause(until)) {
        return state;
      }
    }
  }

  Result<std::int32_t> count_brokers(const TopicName& topic, Duration deadline) override {
    return kafka::count_brokers(*connection_, topic, Deadline{deadline});
  }

  Result<port::Observation> observe(const port::ObserveRequest& request,
                                    Duration deadline) override {
    return look_at_groups(*connection_, request, Deadline{deadline});
  }

  Result<std::vector<TopicSelection>> committed_topics(const GroupId& group,
                                                       Duration deadline) override {
    return look_up_committed_topics(*connection_, group, Deadline{deadline});
  }

  Result<EngineGroup> engine_group(const TopicName& control_topic, Duration deadline) override {
    return look_up_engine_group(*connection_, control_topic, Deadline{deadline});
  }

 private:
  // A client reads either committed or uncommitted; the second is made when it is first needed.
  Result<std::shared_ptr<Connection>> uncommitted_connection() {
    const std::lock_guard lock{mutex_};
    if (uncommitted_ == nullptr) {
      BOOST_OUTCOME_TRY(uncommitted_,
                        Connection::open(RD_KAFKA_CONSUMER, config_, client_id_,
                                         admin_settings("read_uncommitted", lookup_group)));
    }
    return uncommitted_;
  }

  ClientConfig config_;
  std::string client_id_;
  std::shared_ptr<Connection> connection_;
  std::mutex mutex_;
  std::shared_ptr<Connection> uncommitted_;
};

}  // namespace

Result<std::unique_ptr<Admin>> Admin::make(const ClientConfig& config, std::string client_id) {
  BOOST_OUTCOME_TRY(auto connection,
                    Connection::open(RD_KAFKA_CONSUMER, config, client_id,
                                     admin_settings("read_committed", lookup_group)));
  return std::unique_ptr<Admin>{
      std::make_unique<ClusterAdmin>(config, std::move(client_id), std::move(connection))};
}

}  // namespace flow::kafka
