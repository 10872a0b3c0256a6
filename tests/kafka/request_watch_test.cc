#include "connectors/kafka/request_watch.h"

#include <librdkafka/rdkafka_mock.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>

namespace flow::kafka {
namespace {

// A transactional producer on librdkafka's own mock cluster, which answers as it is told to.
class Watched {
 public:
  Watched() {
    std::array<char, 512> text{};
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    for (const auto& [name, value] :
         std::initializer_list<std::pair<const char*, const char*>>{{"test.mock.num.brokers", "1"},
                                                                    {"transactional.id", "watched"},
                                                                    {"linger.ms", "0"},
                                                                    {"retry.backoff.ms", "5"},
                                                                    {"log_level", "0"}}) {
      REQUIRE(rd_kafka_conf_set(conf, name, value, text.data(), text.size()) == RD_KAFKA_CONF_OK);
    }
    watch.attach(conf);
    client_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text.data(), text.size());
    REQUIRE(client_ != nullptr);
    cluster_ = rd_kafka_handle_mock_cluster(client_);
    REQUIRE(ok(rd_kafka_init_transactions(client_, 10'000)));
  }
  ~Watched() { rd_kafka_destroy(client_); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  // The next requests of this kind are answered with these errors.
  void answer(std::int16_t api_key, rd_kafka_resp_err_t code) {
    rd_kafka_mock_push_request_errors(cluster_, api_key, 1, code);
  }

  bool transact() {
    if (!ok(rd_kafka_begin_transaction(client_))) {
      return false;
    }
    rd_kafka_producev(client_, RD_KAFKA_V_TOPIC("topic"), RD_KAFKA_V_PARTITION(0),
                      RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                      RD_KAFKA_V_VALUE(const_cast<char*>("value"), 5), RD_KAFKA_V_END);
    return ok(rd_kafka_commit_transaction(client_, 10'000));
  }

  RequestWatch watch;

 private:
  static bool ok(rd_kafka_error_t* error) {
    const bool none = error == nullptr;
    rd_kafka_error_destroy(error);
    return none;
  }

  rd_kafka_t* client_ = nullptr;
  rd_kafka_mock_cluster_t* cluster_ = nullptr;
};

constexpr std::int16_t produce = 0;
constexpr std::int16_t add_partitions_to_txn = 24;
constexpr std::int16_t end_txn = 26;

}  // namespace

TEST_CASE("transactions that are answered disturb nothing, and their ends are counted") {
  Watched producer;
  for (int i = 1; i <= 5; ++i) {
    REQUIRE(producer.transact());
    CHECK_FALSE(producer.watch.is_disturbed());
    CHECK(producer.watch.end_requests() == i);
  }
}

TEST_CASE("an error that the broker answered disturbs nothing") {
  Watched producer;
  const auto [key, code] = GENERATE(table<std::int16_t, rd_kafka_resp_err_t>({
      {add_partitions_to_txn, RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS},
      {end_txn, RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS},
      {produce, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION},
  }));
  producer.answer(key, code);
  REQUIRE(producer.transact());
  CHECK_FALSE(producer.watch.is_disturbed());
}

TEST_CASE("a connection that breaks instead of an answer disturbs for good") {
  Watched producer;
  const auto key = GENERATE(add_partitions_to_txn, produce, end_txn);
  producer.answer(key, RD_KAFKA_RESP_ERR__TRANSPORT);
  producer.transact();
  CHECK(producer.watch.is_disturbed());
  producer.transact();
  CHECK(producer.watch.is_disturbed());
}

}  // namespace flow::kafka
