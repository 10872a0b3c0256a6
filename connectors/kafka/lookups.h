#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "connectors/kafka/connection.h"
#include "schemas/ids.h"

// Single questions to the cluster, each blocking until its answer or its deadline. None creates a
// topic, also where the broker creates topics on its own.
namespace flow::kafka {

struct TopicShape {
  std::int32_t replicas = 0;  // of partition 0
  std::int32_t brokers = 0;   // of the cluster
  // By partition number; an error that the broker reports for a partition, such as no leader.
  std::vector<rd_kafka_resp_err_t> partitions;
};

// Asks for fresh metadata of exactly this topic. Errc::refused: no such topic, or a missing right,
// named.
Result<TopicShape> look_up_topic(const Connection& connection, const TopicName& topic,
                                 const Deadline& deadline);

// Brokers of the cluster.
Result<std::int32_t> count_brokers(const Connection& connection, const TopicName& any_topic,
                                   const Deadline& deadline);

enum class End : std::uint8_t {
  start,  // log start
  last,   // last stable offset, or the high watermark on a connection that reads uncommitted
};

// Returns that end of each of `partitions`, all or an error. (rd_kafka_offsets_for_times takes the
// two ends as times; unlike rd_kafka_query_watermark_offsets it keeps its time-out while the broker
// is away.)
Result<std::map<TopicPartition, std::int64_t>> look_up_ends(
    const Connection& connection, const std::vector<TopicPartition>& partitions, End end,
    const Deadline& deadline);

// Returns the topic's settings by name. Errc::refused: no such topic, or a missing right, named.
Result<std::map<std::string, std::string>> look_up_topic_settings(const Connection& connection,
                                                                  const TopicName& topic,
                                                                  const Deadline& deadline);

// Options for one administrative call, with what is left of the deadline as its time-out; a call
// that needs a group's coordinator gets the longest time-out there is instead (see
// Connection::retire).
AdminOptions admin_options(const Connection& connection, rd_kafka_admin_op_t operation,
                           const Deadline& deadline);

}  // namespace flow::kafka
