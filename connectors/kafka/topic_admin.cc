#include "connectors/kafka/topic_admin.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "connectors/kafka/errors.h"
#include "connectors/kafka/lookups.h"

namespace flow::kafka {
namespace {

using Configs = std::map<std::string, std::string>;

constexpr std::int32_t safe_replicas = 3;

std::int64_t number(const Configs& settings, const std::string& name) {
  std::int64_t value = 0;
  if (const auto found = settings.find(name); found != settings.end()) {
    const auto& text = found->second;
    std::from_chars(text.data(), text.data() + text.size(), value);
  }
  return value;
}

std::string text_of(const Configs& settings, const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? std::string{} : found->second;
}

Error creation_failure(rd_kafka_resp_err_t code, const char* text, const TopicName& topic) {
  const std::string name = "'" + topic.value() + "'";
  switch (static_cast<int>(code)) {
    case RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS:
      return error(Errc::refused, "topic " + name + " exists already");
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      return error(Errc::refused, "not authorised: Create on topic " + name);
    default:
      break;
  }
  Error found = failure(code, "cannot create topic " + name);
  if (text != nullptr && classify(code) == Errc::refused) {
    found.detail = "cannot create topic " + name + ": " + text;
  }
  return found;
}

}  // namespace

Result<port::LogState> describe_log(const Connection& committed, const Connection& uncommitted,
                                    const TopicName& topic, const Deadline& deadline) {
  BOOST_OUTCOME_TRY(const Configs settings, look_up_topic_settings(committed, topic, deadline));
  BOOST_OUTCOME_TRY(const TopicShape shape, look_up_topic(committed, topic, deadline));
  const std::vector<TopicPartition> first{{topic, 0}};
  BOOST_OUTCOME_TRY(auto start, look_up_ends(committed, first, End::start, deadline));
  BOOST_OUTCOME_TRY(auto last_stable, look_up_ends(committed, first, End::last, deadline));
  BOOST_OUTCOME_TRY(auto high, look_up_ends(uncommitted, first, End::last, deadline));
  port::LogState state;
  state.partitions = static_cast<std::int32_t>(shape.partitions.size());
  state.replicas = shape.replicas;
  state.brokers = shape.brokers;
  state.cleanup_policy = text_of(settings, "cleanup.policy");
  state.min_insync_replicas = static_cast<std::int32_t>(number(settings, "min.insync.replicas"));
  state.unclean_leader_election = text_of(settings, "unclean.leader.election.enable") == "true";
  state.delete_retention = Duration{number(settings, "delete.retention.ms")};
  state.start = LogPosition{start.at(first.front())};
  state.last_stable = LogPosition{last_stable.at(first.front())};
  state.high_watermark = LogPosition{high.at(first.front())};
  return state;
}

Result<void> create_log(const Connection& connection, const TopicName& topic, std::int32_t replicas,
                        const Deadline& deadline) {
  if (replicas == 0) {
    BOOST_OUTCOME_TRY(const std::int32_t brokers, count_brokers(connection, topic, deadline));
    replicas = std::min(safe_replicas, brokers);
  }
  std::array<char, 512> text{};
  const NewTopic fresh{
      rd_kafka_NewTopic_new(topic.value().c_str(), 1, replicas, text.data(), text.size())};
  if (fresh == nullptr) {
    return error(Errc::invalid, "topic '" + topic.value() + "': " + text.data());
  }
  rd_kafka_NewTopic_set_config(fresh.get(), "cleanup.policy", "compact");
  rd_kafka_NewTopic_set_config(fresh.get(), "min.insync.replicas",
                               replicas >= safe_replicas ? "2" : "1");
  rd_kafka_NewTopic_set_config(fresh.get(), "unclean.leader.election.enable", "false");
  AdminOptions options = admin_options(connection, RD_KAFKA_ADMIN_OP_CREATETOPICS, deadline);
  rd_kafka_AdminOptions_set_operation_timeout(options.get(), std::max(1, deadline.left_ms()),
                                              text.data(), text.size());
  const QueueHandle queue = connection.new_queue();
  std::array<rd_kafka_NewTopic_t*, 1> topics{fresh.get()};
  rd_kafka_CreateTopics(connection.handle(), topics.data(), topics.size(), options.get(),
                        queue.get());
  const EventHandle event = wait_for(queue.get(), RD_KAFKA_EVENT_CREATETOPICS_RESULT, deadline);
  if (event == nullptr || classify(rd_kafka_event_error(event.get())) == Errc::unreachable) {
    return connection.no_answer("creating topic '" + topic.value() + "'", deadline.asked());
  }
  if (const auto code = rd_kafka_event_error(event.get()); code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return creation_failure(code, nullptr, topic);
  }
  std::size_t count = 0;
  const auto* const* results =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count);
  for (std::size_t i = 0; i < count; ++i) {
    if (const auto code = rd_kafka_topic_result_error(results[i]);
        code != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return creation_failure(code, rd_kafka_topic_result_error_string(results[i]), topic);
    }
  }
  return boost::outcome_v2::success();
}

}  // namespace flow::kafka
