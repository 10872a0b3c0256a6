#include <librdkafka/rdkafka.h>

#include <array>
#include <deque>
#include <utility>

#include "connectors/kafka/client.h"
#include "connectors/kafka/connection.h"
#include "connectors/kafka/errors.h"
#include "connectors/kafka/lookups.h"

namespace flow::kafka {
namespace {

const Duration purge_deadline{2'000};

struct Delivery {
  bool answered = false;
  rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
  rd_kafka_msg_status_t status = RD_KAFKA_MSG_STATUS_NOT_PERSISTED;
  std::int64_t offset = 0;
};

// Called from rd_kafka_poll, so on the thread that waits.
void on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
  auto* const delivery = static_cast<Delivery*>(message->_private);
  delivery->answered = true;
  delivery->code = message->err;
  delivery->status = rd_kafka_message_status(message);
  delivery->offset = message->offset;
}

class LogAppender final : public Appender {
 public:
  LogAppender(std::shared_ptr<Connection> connection, TopicName topic)
      : connection_{std::move(connection)}, topic_{std::move(topic)} {}

  Result<LogPosition> append(const port::EncodedRecord& record, Duration deadline) override {
    const Deadline until{deadline};
    if (!checked_) {
      BOOST_OUTCOME_TRY(check(until));
      checked_ = true;
    }
    Delivery& delivery = deliveries_.emplace_back();
    if (const auto handed_over = produce(record, delivery); !handed_over) {
      deliveries_.pop_back();
      return handed_over.error();
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

  Result<void> produce(const port::EncodedRecord& record, Delivery& delivery) {
    const char* const value = record.value ? record.value->data() : nullptr;
    const std::size_t length = record.value ? record.value->size() : 0;
    const ErrorHandle refused{rd_kafka_produceva(
        connection_->handle(), arguments(record, value, length, delivery).data(), 6)};
    if (refused != nullptr) {
      return failure(refused.get(), "appending to topic '" + topic_.value() + "'");
    }
    return boost::outcome_v2::success();
  }

  std::array<rd_kafka_vu_t, 6> arguments(const port::EncodedRecord& record, const char* value,
                                         std::size_t length, Delivery& delivery) const {
    std::array<rd_kafka_vu_t, 6> all{};
    all[0].vtype = RD_KAFKA_VTYPE_TOPIC;
    all[0].u.cstr = topic_.value().c_str();
    all[1].vtype = RD_KAFKA_VTYPE_PARTITION;
    all[1].u.i32 = 0;
    all[2].vtype = RD_KAFKA_VTYPE_KEY;
    all[2].u.mem = {const_cast<char*>(record.key.data()), record.key.size()};
    all[3].vtype = RD_KAFKA_VTYPE_VALUE;
    all[3].u.mem = {const_cast<char*>(value), length};
    all[4].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
    all[4].u.i = RD_KAFKA_MSG_F_COPY;
    all[5].vtype = RD_KAFKA_VTYPE_OPAQUE;
    all[5].u.ptr = &delivery;
    return all;
  }

  Result<LogPosition> verdict(const Delivery& delivery, Duration waited) const {
    if (delivery.answered && delivery.code == RD_KAFKA_RESP_ERR_NO_ERROR) {
      return LogPosition{delivery.offset};
    }
    const std::string what = "appending to topic '" + topic_.value() + "'";
    if (delivery.code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED) {
      return error(Errc::refused, "not authorised: Write on topic '" + topic_.value() + "'");
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
