#include "connectors/kafka/producer.h"

#include <algorithm>
#include <utility>

#include "connectors/kafka/delivery.h"
#include "connectors/kafka/errors.h"
#include "connectors/kafka/lookups.h"

namespace flow::kafka {

Result<std::shared_ptr<Producer>> Producer::open(const ClientConfig& config, const TopicName& topic,
                                                 const std::string& client_id,
                                                 const Deadline& deadline) {
  std::shared_ptr<Producer> producer{new Producer{topic}};
  const auto prepare = [](rd_kafka_conf_t* conf, void* watch) {
    static_cast<RequestWatch*>(watch)->attach(conf);
    rd_kafka_conf_set_dr_msg_cb(conf, &on_delivery);
  };
  BOOST_OUTCOME_TRY(
      producer->connection_,
      Connection::open(RD_KAFKA_PRODUCER, config, client_id,
                       producer_settings(transactional_id_of(topic)), prepare, &producer->watch_));
  BOOST_OUTCOME_TRY(look_up_topic(*producer->connection_, topic, deadline));
  const ErrorHandle failed{rd_kafka_init_transactions(producer->handle(), deadline.left_ms())};
  const std::string what = "opening transactional id '" + transactional_id_of(topic) + "'";
  if (failed == nullptr) {
    if (producer->is_spent()) {  // the lost request may still come and end the new epoch
      return error(Errc::retriable, what + ": the connection was lost meanwhile");
    }
    return producer;
  }
  const auto code = rd_kafka_error_code(failed.get());
  if (code == RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED) {
    return error(Errc::refused,
                 "not authorised: Write on transactional id '" + transactional_id_of(topic) + "'");
  }
  if (classify(code) == Errc::unreachable) {
    return producer->connection_->no_answer(what, deadline.asked());
  }
  return failure(failed.get(), what);
}

std::vector<Delivery>& Producer::new_deliveries(std::size_t count) {
  std::erase_if(deliveries_, [](const auto& old) {
    return std::all_of(old->begin(), old->end(), [](const Delivery& one) { return one.answered; });
  });
  return *deliveries_.emplace_back(std::make_unique<std::vector<Delivery>>(count));
}

std::string transactional_id_of(const TopicName& topic) { return "flow." + topic.value(); }

}  // namespace flow::kafka
