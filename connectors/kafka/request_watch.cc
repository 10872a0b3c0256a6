#include "connectors/kafka/request_watch.h"

namespace flow::kafka {
namespace {

constexpr std::int16_t produce = 0;
constexpr std::int16_t init_producer_id = 22;
constexpr std::int16_t add_partitions_to_txn = 24;
constexpr std::int16_t add_offsets_to_txn = 25;
constexpr std::int16_t end_txn = 26;
constexpr std::int16_t txn_offset_commit = 28;
constexpr std::int16_t not_known = -1;  // an answer to a request that had timed out

bool is_transactional(std::int16_t api_key) {
  switch (api_key) {
    case produce:
    case init_producer_id:
    case add_partitions_to_txn:
    case add_offsets_to_txn:
    case end_txn:
    case txn_offset_commit:
    case not_known:
      return true;
    default:
      return false;
  }
}

constexpr const char* interceptor_name = "flow-request-watch";

// librdkafka 2.0.2 reports an answer once from the thread of the connection, and once more from its
// main thread if that handles it; it does not say which request was answered. Only the connection's
// thread ever sends.
thread_local bool is_connection_thread = false;

}  // namespace

void RequestWatch::attach(rd_kafka_conf_t* conf) {
  rd_kafka_conf_interceptor_add_on_new(conf, interceptor_name, &RequestWatch::on_new, this);
}

rd_kafka_resp_err_t RequestWatch::on_new(rd_kafka_t* client, const rd_kafka_conf_t*, void* self,
                                         char*, std::size_t) {
  rd_kafka_interceptor_add_on_request_sent(client, interceptor_name, &RequestWatch::on_sent, self);
  return rd_kafka_interceptor_add_on_response_received(client, interceptor_name,
                                                       &RequestWatch::on_response, self);
}

rd_kafka_resp_err_t RequestWatch::on_sent(rd_kafka_t*, int, const char*, std::int32_t,
                                          std::int16_t api_key, std::int16_t, std::int32_t,
                                          std::size_t, void* self) {
  is_connection_thread = true;
  auto& watch = *static_cast<RequestWatch*>(self);
  if (is_transactional(api_key)) {
    ++watch.sent_;
  }
  if (api_key == end_txn) {
    ++watch.ends_;
  }
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

rd_kafka_resp_err_t RequestWatch::on_response(rd_kafka_t*, int, const char*, std::int32_t,
                                              std::int16_t api_key, std::int16_t, std::int32_t,
                                              std::size_t, std::int64_t, rd_kafka_resp_err_t code,
                                              void* self) {
  auto& watch = *static_cast<RequestWatch*>(self);
  if (!is_transactional(api_key)) {
    return RD_KAFKA_RESP_ERR_NO_ERROR;
  }
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    watch.lost_.store(true);
  } else if (is_connection_thread) {
    ++watch.answered_;
  }
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

}  // namespace flow::kafka
