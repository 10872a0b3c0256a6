#pragma once

#include <librdkafka/rdkafka.h>

#include <map>
#include <optional>
#include <string>

#include "connectors/kafka/group_questions.h"
#include "engine/ports/values.h"

// What stands against moving a group, in words and kinds. Pure.
namespace flow::kafka {

// Whether the broker's answer to a group's offsets says that the member that sent them is none (any
// more). To a made-up member that means that the group has a real one.
bool is_about_membership(rd_kafka_resp_err_t code);

// What the broker's answer to a guarded commit means for the group; nothing where it is not about
// the group.
std::optional<port::GroupRefusal> refusal_of(rd_kafka_resp_err_t code, const port::GroupMove& move);

// Compares what was read right before the commit with what must still be true. Nothing: it is.
std::optional<port::GroupRefusal> compare_before(const port::GroupMove& move,
                                                 const std::map<TopicPartition, OffsetSeen>& now);

// Names a negative offset in the transaction. librdkafka would leave it out without a word.
std::optional<std::string> negative_offset(const port::Transaction& transaction);

}  // namespace flow::kafka
