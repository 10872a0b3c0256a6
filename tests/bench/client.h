#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "connectors/kafka/handles.h"
#include "schemas/records.h"

// What the programs of scripts/bench share: plain librdkafka, apart from the product's own
// connector. Everything here ends the process with a line on stderr when Kafka says no.
namespace flow::bench {

using Clock = std::chrono::steady_clock;
using Client = std::unique_ptr<rd_kafka_t, kafka::Destroyer<rd_kafka_destroy>>;
using ClientSettings = std::vector<std::pair<std::string, std::string>>;

[[noreturn]] void die(const std::string& what);
// Ends the process where `failed` is an error; destroys it.
void check(rd_kafka_error_t* failed, const std::string& what);

double ms_since(Clock::time_point began);
Instant now();

Client connect(rd_kafka_type_t type, const std::string& bootstrap, const ClientSettings& settings);

// Hands one record over for partition 0 of `topic`; waits while librdkafka's queue is full.
void produce(rd_kafka_t* producer, const std::string& topic, const Record& record);

// Reads partition 0 of a topic, read_committed, and knows when it is at the end.
class Tail {
 public:
  // `settings` are added to what every reader needs. `offset`: where reading begins, or
  // RD_KAFKA_OFFSET_BEGINNING.
  Tail(const std::string& bootstrap, const std::string& topic, std::int64_t offset,
       const ClientSettings& settings);
  ~Tail();
  Tail(const Tail&) = delete;
  Tail& operator=(const Tail&) = delete;

  // The next messages, an end-of-partition event among them; none when nothing came in `wait_ms`.
  std::vector<kafka::MessageHandle> next(int wait_ms);

 private:
  Client client_;
  kafka::QueueHandle queue_;
  kafka::TopicHandle topic_;
  std::vector<rd_kafka_message_t*> scratch_;
};

// The offset behind the last record of partition 0.
std::int64_t end_of(const std::string& bootstrap, const std::string& topic);

}  // namespace flow::bench
