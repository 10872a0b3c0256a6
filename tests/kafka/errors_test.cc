#include "connectors/kafka/errors.h"

#include <catch2/catch.hpp>

namespace flow::kafka {

TEST_CASE("each code of Kafka has the class that drives what happens next") {
  const auto [code, errc] = GENERATE(table<rd_kafka_resp_err_t, Errc>({
      {RD_KAFKA_RESP_ERR__TRANSPORT, Errc::unreachable},
      {RD_KAFKA_RESP_ERR__TIMED_OUT, Errc::unreachable},
      {RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, Errc::unreachable},
      {RD_KAFKA_RESP_ERR__AUTHENTICATION, Errc::unreachable},
      {RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED, Errc::unreachable},
      {RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, Errc::unreachable},
      {RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, Errc::retriable},
      {RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS, Errc::retriable},
      {RD_KAFKA_RESP_ERR_NOT_COORDINATOR, Errc::retriable},
      {RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT, Errc::retriable},
      {RD_KAFKA_RESP_ERR_INVALID_PRODUCER_ID_MAPPING, Errc::retriable},
      {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, Errc::refused},
      {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, Errc::refused},
      {RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, Errc::refused},
      {RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND, Errc::refused},
      {RD_KAFKA_RESP_ERR_INVALID_GROUP_ID, Errc::refused},
      {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, Errc::refused},
      {RD_KAFKA_RESP_ERR__FENCED, Errc::fenced},
      {RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH, Errc::fenced},
      {RD_KAFKA_RESP_ERR_PRODUCER_FENCED, Errc::fenced},
      {RD_KAFKA_RESP_ERR__FATAL, Errc::fatal},
      {RD_KAFKA_RESP_ERR__INVALID_ARG, Errc::invalid},
      {RD_KAFKA_RESP_ERR__DESTROY, Errc::cancelled},
  }));
  CAPTURE(rd_kafka_err2name(code));
  CHECK(classify(code) == errc);
}

TEST_CASE("a code that nobody knows is never a reason to give up for good") {
  CHECK(classify(static_cast<rd_kafka_resp_err_t>(250)) == Errc::retriable);
}

TEST_CASE("reasons are Kafka's words in lower case") {
  CHECK(reason(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) == "unknown topic or partition");
  CHECK(reason(RD_KAFKA_RESP_ERR__TIMED_OUT) == "timed out");
}

TEST_CASE("a failure names what was tried, and the missing right") {
  CHECK(failure(RD_KAFKA_RESP_ERR__TIMED_OUT, "group 'g'") ==
        error(Errc::unreachable, "group 'g': timed out"));
  CHECK(failure(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, "reading topic 't'") ==
        error(Errc::refused, "reading topic 't': not authorised for the topic"));
}

}  // namespace flow::kafka
