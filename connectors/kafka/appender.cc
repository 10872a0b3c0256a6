#include <librdkafka/rdkafka.h>

#include <deque>
#include <utility>

#include "connectors/kafka/client.h"
#include "connectors/kafka/connection.h"
#include "connectors/kafka/delivery.h"
#include "connectors/kafka/errors.h"
#include "connectors/kafka/lookups.h"

namespace flow::kafka {
namespace {

const Duration purge_deadline{2'000};

class LogAppender final : public Appender {
 public:
  LogAppender(std::shared_ptr<Connection> connection, TopicName topic)
      : connection_{std::move(connection)}, topic_{std::move(topic)} {}

  Result<void> prepare(Duration deadline) override { return prepare(Deadline{deadline}); }

  Result<LogPosition> append(const port::EncodedRecord& record, Duration deadline) override {
    const Deadline until{deadline};
    BOOST_OUTCOME_TRY(prepare(until));
    Delivery& delivery = deliveries_.emplace_back();
    const ErrorHandle refused = hand_over(connection_->handle(), topic_, record, delivery);
    if (refused != nullptr) {
      deliveries_.pop_back();
      const auto code = rd_kafka_error_code(refused.get());
      return is_missing_right(code)
                 ? not_authorised()
                 : failure(refused.get(), "appending to topic '" + topic_.value() + "'");
    }
    await(delivery, until);
    if (!delivery.answered) {
      // Purged messages are answered at once, with what is known of them.
      rd_kafka_purge(connection_->handle(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
      await(delivery, Deadline{purge_deadline});
    }
    return verdict(delivery, deadline);
  }

 private:
  Result<void> prepare(const Deadline& until) {
    if (!checked_) {
      BOOST_OUTCOME_TRY(check(until));
      checked_ = true;
    }
    return boost::outcome_v2::success();
  }

  void await(const Delivery& delivery, const Deadline& until) {
    while (!delivery.answered && !until.has_passed()) {
      rd_kafka_poll(connection_->handle(), until.left_ms());
    }
  }

  Result<void> check(const Deadline& until) {
    BOOST_OUTCOME_TRY(const TopicShape shape, look_up_topic(*connection_, topic_, until));
    if (shape.partitions.size() != 1) {
      return error(Errc::refused, "topic '" + topic_.value() + "' has " +
                                      std::to_string(shape.partitions.size()) +
                                      " partitions, a control topic has exactly one");
    }
    const auto settings = look_up_topic_settings(*connection_, topic_, until);
    if (!settings) {
      // Who may write need not be allowed to see the settings; the engine checks them too.
      if (settings.error().detail.starts_with("not authorised")) {
        return boost::outcome_v2::success();
      }
      return settings.error();
    }
    const auto policy = settings.value().find("cleanup.policy");
    if (policy != settings.value().end() && policy->second != "compact") {
      return error(Errc::refused, "topic '" + topic_.value() + "' has cleanup.policy=" +
                                      policy->second + ", a control topic has compact");
    }
    return boost::outcome_v2::success();
  }

  Result<LogPosition> verdict(const Delivery& delivery, Duration waited) const {
    if (delivery.answered && delivery.code == RD_KAFKA_RESP_ERR_NO_ERROR) {
      return LogPosition{delivery.offset};
    }
    const std::string what = "appending to topic '" + topic_.value() + "'";
    if (is_missing_right(delivery.code)) {
      return not_authorised();
    }
    if (!delivery.answered || delivery.status == RD_KAFKA_MSG_STATUS_POSSIBLY_PERSISTED) {
      return error(Errc::unknown, connection_->no_answer(what, waited).detail +
                                      "; the record may be there nevertheless");
    }
    if (delivery.code == RD_KAFKA_RESP_ERR__PURGE_QUEUE) {
      return connection_->no_answer(what, waited);
    }
    return connection_->explain(delivery.code, what);
  }

  // Who may write nothing at all is refused an idempotent producer's id, in the cluster's name.
  static bool is_missing_right(rd_kafka_resp_err_t code) {
    return code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
           code == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED;
  }

  Error not_authorised() const {
    return error(Errc::refused,
                 "not authorised: Write on topic '" + topic_.value() +
                     "' (a broker before Kafka 2.8 wants IdempotentWrite on the cluster besides)");
  }

  std::shared_ptr<Connection> connection_;
  TopicName topic_;
  std::deque<Delivery> deliveries_;  // librdkafka points at them until it has answered
  bool checked_ = false;
};

}  // namespace

Result<std::unique_ptr<Appender>> Appender::make(const ClientConfig& config,
                                                 TopicName control_topic, std::string client_id) {
  const auto prepare = [](rd_kafka_conf_t* conf, void*) {
    rd_kafka_conf_set_dr_msg_cb(conf, &on_delivery);
  };
  BOOST_OUTCOME_TRY(auto connection, Connection::open(RD_KAFKA_PRODUCER, config, client_id,
                                                      appender_settings(), prepare));
  return std::unique_ptr<Appender>{
      std::make_unique<LogAppender>(std::move(connection), std::move(control_topic))};
}

}  // namespace flow::kafka
