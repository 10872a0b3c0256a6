#pragma once

#include <memory>
#include <string>
#include <vector>

#include "connectors/kafka/connection.h"
#include "connectors/kafka/delivery.h"
#include "connectors/kafka/request_watch.h"
#include "schemas/ids.h"

namespace flow::kafka {

// The transactional producer of a control topic, one epoch of it: when anything is in doubt it is
// dropped and another one is opened, never mended.
class Producer {
 public:
  // Makes the client, asks for the topic's metadata (librdkafka would wait a second for it later),
  // and takes over the transactional id flow.<topic>, which fences the producer before and aborts
  // what it had open.
  static Result<std::shared_ptr<Producer>> open(const ClientConfig& config, const TopicName& topic,
                                                const std::string& client_id,
                                                const Deadline& deadline);

  rd_kafka_t* handle() const { return connection_->handle(); }
  const Connection& connection() const { return *connection_; }
  const RequestWatch& watch() const { return watch_; }
  const TopicName& topic() const { return topic_; }

  // Nothing may be done with this producer any more; for good.
  void spend() { is_spent_ = true; }
  bool is_spent() const { return is_spent_ || watch_.is_disturbed(); }

  // Room for the deliveries of one transaction. It stays until the next transaction, or, where
  // librdkafka still points at it then, with the producer.
  std::vector<Delivery>& new_deliveries(std::size_t count);

 private:
  explicit Producer(TopicName topic) : topic_{std::move(topic)} {}

  TopicName topic_;
  RequestWatch watch_;
  std::vector<std::unique_ptr<std::vector<Delivery>>> deliveries_;
  std::shared_ptr<Connection> connection_;  // after what it points at until it is gone
  bool is_spent_ = false;
};

// The transactional id of a control topic.
std::string transactional_id_of(const TopicName& topic);

}  // namespace flow::kafka
