#pragma once

#include <librdkafka/rdkafka.h>

#include <memory>

// Owners of librdkafka's handles: each ends with the function that librdkafka wants for it.
namespace flow::kafka {

template <auto Destroy>
struct Destroyer {
  template <typename T>
  void operator()(T* handle) const {
    Destroy(handle);
  }
};

struct MetadataDestroyer {
  void operator()(const struct rd_kafka_metadata* metadata) const {
    rd_kafka_metadata_destroy(metadata);
  }
};

using ConfHandle = std::unique_ptr<rd_kafka_conf_t, Destroyer<rd_kafka_conf_destroy>>;
using TopicConfHandle =
    std::unique_ptr<rd_kafka_topic_conf_t, Destroyer<rd_kafka_topic_conf_destroy>>;
using TopicHandle = std::unique_ptr<rd_kafka_topic_t, Destroyer<rd_kafka_topic_destroy>>;
using QueueHandle = std::unique_ptr<rd_kafka_queue_t, Destroyer<rd_kafka_queue_destroy>>;
using EventHandle = std::unique_ptr<rd_kafka_event_t, Destroyer<rd_kafka_event_destroy>>;
using ErrorHandle = std::unique_ptr<rd_kafka_error_t, Destroyer<rd_kafka_error_destroy>>;
using MessageHandle = std::unique_ptr<rd_kafka_message_t, Destroyer<rd_kafka_message_destroy>>;
using PartitionList = std::unique_ptr<rd_kafka_topic_partition_list_t,
                                      Destroyer<rd_kafka_topic_partition_list_destroy>>;
using AdminOptions =
    std::unique_ptr<rd_kafka_AdminOptions_t, Destroyer<rd_kafka_AdminOptions_destroy>>;
using NewTopic = std::unique_ptr<rd_kafka_NewTopic_t, Destroyer<rd_kafka_NewTopic_destroy>>;
using ConfigResource =
    std::unique_ptr<rd_kafka_ConfigResource_t, Destroyer<rd_kafka_ConfigResource_destroy>>;
using OffsetsQuery = std::unique_ptr<rd_kafka_ListConsumerGroupOffsets_t,
                                     Destroyer<rd_kafka_ListConsumerGroupOffsets_destroy>>;
using GroupMetadata = std::unique_ptr<rd_kafka_consumer_group_metadata_t,
                                      Destroyer<rd_kafka_consumer_group_metadata_destroy>>;
using Metadata = std::unique_ptr<const struct rd_kafka_metadata, MetadataDestroyer>;

}  // namespace flow::kafka
