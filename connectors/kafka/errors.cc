#include "connectors/kafka/errors.h"

#include <cctype>

namespace flow::kafka {

Errc classify(rd_kafka_resp_err_t code) {
  switch (static_cast<int>(code)) {
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__SSL:
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
      return Errc::unreachable;

    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
    case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
    case RD_KAFKA_RESP_ERR_TRANSACTION_COORDINATOR_FENCED:
      return Errc::fenced;

    case RD_KAFKA_RESP_ERR__FATAL:
    case RD_KAFKA_RESP_ERR__CRIT_SYS_RESOURCE:
      return Errc::fatal;

    case RD_KAFKA_RESP_ERR__DESTROY:
      return Errc::cancelled;

    case RD_KAFKA_RESP_ERR__INVALID_ARG:
    case RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE:
    case RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED:
      return Errc::invalid;

    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_INVALID_GROUP_ID:
    case RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND:
    case RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR:
    case RD_KAFKA_RESP_ERR_INVALID_PARTITIONS:
    case RD_KAFKA_RESP_ERR_INVALID_CONFIG:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION:
    case RD_KAFKA_RESP_ERR_SECURITY_DISABLED:
    case RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE:
      return Errc::refused;

    default:
      return Errc::retriable;
  }
}

std::string reason(rd_kafka_resp_err_t code) {
  std::string text{rd_kafka_err2str(code)};
  for (const std::string_view prefix : {"Broker: ", "Local: "}) {
    if (text.starts_with(prefix)) {
      text.erase(0, prefix.size());
    }
  }
  if (!text.empty()) {
    text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  }
  return text;
}

Error failure(rd_kafka_resp_err_t code, std::string_view what) {
  const std::string_view right = missing_right(code);
  return Error{classify(code),
               std::string{what} + ": " + (right.empty() ? reason(code) : std::string{right})};
}

Error failure(const rd_kafka_error_t* cause, std::string_view what) {
  const auto code = rd_kafka_error_code(cause);
  if (!missing_right(code).empty() || is_no_such_topic(code)) {
    return failure(code, what);
  }
  Errc errc = classify(code);
  if (rd_kafka_error_is_fatal(cause) && errc != Errc::fenced) {
    errc = Errc::fatal;
  }
  return Error{errc, std::string{what} + ": " + rd_kafka_error_string(cause)};
}

std::string_view missing_right(rd_kafka_resp_err_t code) {
  switch (static_cast<int>(code)) {
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
      return "not authorised for the topic";
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
      return "not authorised for the group";
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      return "not authorised for the cluster";
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
      return "not authorised for the transactional id";
    default:
      return {};
  }
}

bool is_no_such_topic(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
         code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC || code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION;
}

}  // namespace flow::kafka
