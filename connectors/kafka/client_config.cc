#include "connectors/kafka/client_config.h"

#include <array>
#include <string_view>

namespace flow::kafka {
namespace {

bool holds_secret(std::string_view name) {
  return name.find("password") != std::string_view::npos ||
         name.find("secret") != std::string_view::npos ||
         name.find("key.pem") != std::string_view::npos ||
         name.find("oauthbearer.config") != std::string_view::npos;
}

Result<void> set(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  std::array<char, 512> text{};
  const auto outcome =
      rd_kafka_conf_set(conf, name.c_str(), value.c_str(), text.data(), text.size());
  if (outcome == RD_KAFKA_CONF_OK) {
    return boost::outcome_v2::success();
  }
  if (holds_secret(name)) {
    return error(Errc::invalid, "client setting " + name + ": librdkafka does not take its value");
  }
  return error(Errc::invalid, "client setting " + name + "=" + value + ": " + text.data());
}

}  // namespace

Settings common_settings() {
  return {
      {"broker.address.family", "any"},
      {"socket.nagle.disable", "true"},
      {"socket.keepalive.enable", "true"},
      {"socket.timeout.ms", "10000"},
      {"socket.connection.setup.timeout.ms", "10000"},
      {"reconnect.backoff.ms", "20"},
      {"reconnect.backoff.max.ms", "1000"},
      {"api.version.request", "true"},
      {"statistics.interval.ms", "0"},
      // The only way to hear that a listener wants another protocol; connection.cc keeps the lines
      // back.
      {"log.connection.close", "true"},
      {"log_level", "6"},
      {"topic.metadata.refresh.interval.ms", "300000"},
  };
}

Settings admin_settings(const std::string& isolation, const GroupId& group) {
  return {
      {"allow.auto.create.topics", "false"},
      {"group.id", group.value()},
      {"enable.auto.commit", "false"},
      {"isolation.level", isolation},
      {"retry.backoff.ms", "5"},
  };
}

Settings appender_settings() {
  return {
      {"allow.auto.create.topics", "false"},
      {"enable.idempotence", "true"},
      {"acks", "all"},
      {"linger.ms", "0"},
      {"retry.backoff.ms", "20"},
      {"compression.type", "none"},
      {"message.timeout.ms", "300000"},
      {"request.timeout.ms", "30000"},
  };
}

Settings reader_settings() {
  // fetch.wait.max.ms is the reader's pace. The queue is bounded by bytes and by count: rebuilding
  // a store from a million records must stay small.
  return {
      {"allow.auto.create.topics", "false"},
      {"isolation.level", "read_committed"},
      {"enable.auto.commit", "false"},
      {"enable.auto.offset.store", "false"},
      {"enable.partition.eof", "true"},
      {"auto.offset.reset", "error"},
      {"check.crcs", "true"},
      {"fetch.min.bytes", "1"},
      {"fetch.error.backoff.ms", "50"},
      {"fetch.message.max.bytes", "2097152"},
      {"fetch.max.bytes", "4194304"},
      {"queued.min.messages", "20000"},
      {"queued.max.messages.kbytes", "8192"},
  };
}

Settings producer_settings(const std::string& transactional_id) {
  return {
      {"allow.auto.create.topics", "false"},
      {"transactional.id", transactional_id},
      {"transaction.timeout.ms", "15000"},
      {"enable.idempotence", "true"},
      {"acks", "all"},
      {"linger.ms", "0"},
      {"retry.backoff.ms", "5"},
      {"compression.type", "none"},
      {"message.timeout.ms", "10000"},
      {"request.timeout.ms", "10000"},
  };
}

Settings member_settings(const std::string& group, Assignor assignor, Duration max_poll_interval) {
  return {
      {"allow.auto.create.topics", "false"},
      {"group.id", group},
      {"partition.assignment.strategy",
       assignor == Assignor::cooperative_sticky ? "cooperative-sticky" : "range"},
      {"session.timeout.ms", "6000"},
      {"heartbeat.interval.ms", "1000"},
      {"max.poll.interval.ms", std::to_string(max_poll_interval.value())},
      {"enable.auto.commit", "false"},
      {"enable.auto.offset.store", "false"},
      {"auto.offset.reset", "error"},
      {"enable.partition.eof", "false"},
  };
}

Result<ConfHandle> make_conf(const ClientConfig& user, const std::string& client_id,
                             const Settings& own) {
  ConfHandle conf{rd_kafka_conf_new()};
  for (const auto& [name, value] : common_settings()) {
    BOOST_OUTCOME_TRY(set(conf.get(), name, value));
  }
  for (const auto& [name, value] : user.settings) {
    BOOST_OUTCOME_TRY(set(conf.get(), name, value));
  }
  for (const auto& [name, value] : own) {
    BOOST_OUTCOME_TRY(set(conf.get(), name, value));
  }
  BOOST_OUTCOME_TRY(set(conf.get(), "client.id", client_id));
  return conf;
}

std::string bootstrap_servers(const ClientConfig& config) {
  for (const char* const name : {"bootstrap.servers", "metadata.broker.list"}) {
    if (const auto found = config.settings.find(name); found != config.settings.end()) {
      return found->second;
    }
  }
  return "(no bootstrap.servers)";
}

}  // namespace flow::kafka
