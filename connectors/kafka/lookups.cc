#include "connectors/kafka/lookups.h"

#include <algorithm>
#include <array>

#include "connectors/kafka/errors.h"

namespace flow::kafka {
namespace {

constexpr int admin_timeout_max_ms = 3'600'000;

std::string quoted(const TopicName& topic) { return "'" + topic.value() + "'"; }

Error topic_failure(rd_kafka_resp_err_t code, const TopicName& topic, const std::string& right) {
  if (is_no_such_topic(code)) {
    return error(Errc::refused, "no such topic " + quoted(topic));
  }
  if (code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED) {
    return error(Errc::refused, "not authorised: " + right + " on topic " + quoted(topic));
  }
  return failure(code, "topic " + quoted(topic));
}

Result<Metadata> ask_metadata(const Connection& connection, const TopicName& topic,
                              const Deadline& deadline) {
  const TopicHandle handle{rd_kafka_topic_new(connection.handle(), topic.value().c_str(), nullptr)};
  if (handle == nullptr) {
    return topic_failure(rd_kafka_last_error(), topic, "Describe");
  }
  BOOST_OUTCOME_TRY(connection.reach("topic " + quoted(topic), deadline));
  // Only ever one named topic: asked for "all that are known here", librdkafka 2.0.2 allows the
  // broker to create them, whatever allow.auto.create.topics says.
  const struct rd_kafka_metadata* found = nullptr;
  const auto code =
      rd_kafka_metadata(connection.handle(), 0, handle.get(), &found, deadline.left_ms());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return classify(code) == Errc::unreachable
               ? connection.no_answer("topic " + quoted(topic), deadline.asked())
               : failure(code, "topic " + quoted(topic));
  }
  return Metadata{found};
}

Result<std::map<std::string, std::string>> read_settings(const rd_kafka_event_t* event,
                                                         const TopicName& topic) {
  if (const auto code = rd_kafka_event_error(const_cast<rd_kafka_event_t*>(event));
      code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return topic_failure(code, topic, "DescribeConfigs");
  }
  std::size_t count = 0;
  const auto* const* resources = rd_kafka_DescribeConfigs_result_resources(
      rd_kafka_event_DescribeConfigs_result(const_cast<rd_kafka_event_t*>(event)), &count);
  std::map<std::string, std::string> settings;
  for (std::size_t i = 0; i < count; ++i) {
    if (const auto code = rd_kafka_ConfigResource_error(resources[i]);
        code != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return topic_failure(code, topic, "DescribeConfigs");
    }
    std::size_t entries = 0;
    const auto* const* configs = rd_kafka_ConfigResource_configs(resources[i], &entries);
    for (std::size_t j = 0; j < entries; ++j) {
      const char* const value = rd_kafka_ConfigEntry_value(configs[j]);
      settings[rd_kafka_ConfigEntry_name(configs[j])] = value == nullptr ? "" : value;
    }
  }
  return settings;
}

}  // namespace

Result<TopicShape> look_up_topic(const Connection& connection, const TopicName& topic,
                                 const Deadline& deadline) {
  BOOST_OUTCOME_TRY(const Metadata metadata, ask_metadata(connection, topic, deadline));
  TopicShape shape;
  shape.brokers = metadata->broker_cnt;
  for (int i = 0; i < metadata->topic_cnt; ++i) {
    const auto& found = metadata->topics[i];
    if (topic.value() != found.topic) {
      continue;
    }
    if (found.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return topic_failure(found.err, topic, "Describe");
    }
    shape.partitions.resize(static_cast<std::size_t>(found.partition_cnt),
                            RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE);
    for (int j = 0; j < found.partition_cnt; ++j) {
      const auto& partition = found.partitions[j];
      const auto id = static_cast<std::size_t>(partition.id);
      if (id < shape.partitions.size()) {
        // A replica that is away is no matter here, as long as there is a leader.
        shape.partitions[id] = partition.leader >= 0 ? RD_KAFKA_RESP_ERR_NO_ERROR
                                                     : RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
      }
      if (partition.id == 0) {
        shape.replicas = partition.replica_cnt;
      }
    }
  }
  if (shape.partitions.empty()) {
    return error(Errc::retriable,
                 "topic " + quoted(topic) + ": the broker lists no partitions yet");
  }
  return shape;
}

Result<std::int32_t> count_brokers(const Connection& connection, const TopicName& any_topic,
                                   const Deadline& deadline) {
  // A broker that has just started answers before it counts itself.
  for (Backoff backoff;;) {
    BOOST_OUTCOME_TRY(const Metadata metadata, ask_metadata(connection, any_topic, deadline));
    if (metadata->broker_cnt > 0) {
      return metadata->broker_cnt;
    }
    if (!backoff.pause(deadline)) {
      return error(Errc::retriable, "the cluster has no broker that is ready");
    }
  }
}

Result<std::map<TopicPartition, std::int64_t>> look_up_ends(
    const Connection& connection, const std::vector<TopicPartition>& partitions, End end,
    const Deadline& deadline) {
  std::map<TopicPartition, std::int64_t> ends;
  if (partitions.empty()) {
    return ends;
  }
  const std::int64_t time = end == End::start ? RD_KAFKA_OFFSET_BEGINNING : RD_KAFKA_OFFSET_END;
  // librdkafka writes one entry a run of equal topic names, so the list has to be sorted.
  std::vector<TopicPartition> sorted = partitions;
  std::sort(sorted.begin(), sorted.end());
  const PartitionList list{rd_kafka_topic_partition_list_new(static_cast<int>(sorted.size()))};
  for (const auto& at : sorted) {
    rd_kafka_topic_partition_list_add(list.get(), at.topic.value().c_str(), at.partition)->offset =
        time;
  }
  const auto code = rd_kafka_offsets_for_times(connection.handle(), list.get(), deadline.left_ms());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return classify(code) == Errc::unreachable
               ? connection.no_answer("offsets of topic " + quoted(sorted.front().topic),
                                      deadline.asked())
               : topic_failure(code, sorted.front().topic, "Describe");
  }
  for (int i = 0; i < list->cnt; ++i) {
    const auto& found = list->elems[i];
    const TopicPartition at{TopicName{found.topic}, found.partition};
    if (found.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return topic_failure(found.err, at.topic, "Describe");
    }
    if (found.offset < 0) {  // unanswered: the time that was asked for still stands there
      return error(Errc::retriable, "no offset of " + quoted(at.topic) + " partition " +
                                        std::to_string(at.partition) + " came back");
    }
    ends[at] = found.offset;
  }
  return ends;
}

Result<std::map<std::string, std::string>> look_up_topic_settings(const Connection& connection,
                                                                  const TopicName& topic,
                                                                  const Deadline& deadline) {
  BOOST_OUTCOME_TRY(connection.reach("settings of topic " + quoted(topic), deadline));
  const ConfigResource resource{
      rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.value().c_str())};
  const AdminOptions options =
      admin_options(connection, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, deadline);
  const QueueHandle queue = connection.new_queue();
  std::array<rd_kafka_ConfigResource_t*, 1> resources{resource.get()};
  rd_kafka_DescribeConfigs(connection.handle(), resources.data(), resources.size(), options.get(),
                           queue.get());
  const EventHandle event = wait_for(queue.get(), RD_KAFKA_EVENT_DESCRIBECONFIGS_RESULT, deadline);
  if (event == nullptr || classify(rd_kafka_event_error(event.get())) == Errc::unreachable) {
    return connection.no_answer("settings of topic " + quoted(topic), deadline.asked());
  }
  return read_settings(event.get(), topic);
}

AdminOptions admin_options(const Connection& connection, rd_kafka_admin_op_t operation,
                           const Deadline& deadline) {
  const bool needs_coordinator = operation == RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS ||
                                 operation == RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS;
  const int timeout_ms = needs_coordinator ? admin_timeout_max_ms : std::max(1, deadline.left_ms());
  AdminOptions options{rd_kafka_AdminOptions_new(connection.handle(), operation)};
  std::array<char, 256> text{};
  // Cannot fail: every operation that we use has this option, and the range is 0 to an hour.
  rd_kafka_AdminOptions_set_request_timeout(options.get(), timeout_ms, text.data(), text.size());
  return options;
}

}  // namespace flow::kafka
