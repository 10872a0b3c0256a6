#pragma once

#include <librdkafka/rdkafka.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace flow::kafka {

// Sees, through librdkafka's interceptors, every transactional request of one producer being
// written to its socket and answered. A request that was written and never answered may still reach
// the broker, and in version 1 of Kafka's transaction protocol, the only one that librdkafka
// speaks, act on a later transaction of the same producer epoch (Jepsen's report on Bufstream
// 0.1.0; KAFKA-17754). Then the epoch has to go.
//
// Must outlive the client. The interceptors run on librdkafka's threads; the questions may be asked
// on any.
class RequestWatch {
 public:
  RequestWatch() = default;
  RequestWatch(const RequestWatch&) = delete;
  RequestWatch& operator=(const RequestWatch&) = delete;

  // Before the client is made.
  void attach(rd_kafka_conf_t* conf);

  // Whether since the client was made some transactional request was lost (its connection broke, or
  // it timed out) or has not been answered. There is no way back: the producer has to be replaced.
  bool is_disturbed() const { return lost_.load() || sent_.load() != answered_.load(); }

  // How often an EndTxn was written to a socket since the client was made.
  std::int64_t end_requests() const { return ends_.load(); }

 private:
  static rd_kafka_resp_err_t on_new(rd_kafka_t* client, const rd_kafka_conf_t*, void* self, char*,
                                    std::size_t);
  static rd_kafka_resp_err_t on_sent(rd_kafka_t*, int, const char*, std::int32_t,
                                     std::int16_t api_key, std::int16_t, std::int32_t, std::size_t,
                                     void* self);
  static rd_kafka_resp_err_t on_response(rd_kafka_t*, int, const char*, std::int32_t,
                                         std::int16_t api_key, std::int16_t, std::int32_t,
                                         std::size_t, std::int64_t, rd_kafka_resp_err_t code,
                                         void* self);

  std::atomic<std::int64_t> sent_{0};
  std::atomic<std::int64_t> answered_{0};
  std::atomic<std::int64_t> ends_{0};
  std::atomic<bool> lost_{false};
};

}  // namespace flow::kafka
