#pragma once

#include "connectors/kafka/connection.h"
#include "engine/ports/values.h"

namespace flow::kafka {

// The control topic as the broker describes it. `committed` sees last stable offsets, `uncommitted`
// (another connection, that reads uncommitted) the high watermark. Errors as Admin::describe_log.
Result<port::LogState> describe_log(const Connection& committed, const Connection& uncommitted,
                                    const TopicName& topic, const Deadline& deadline);

// Creates the control topic. It may take a moment until every broker knows it: the caller describes
// it. Errors as Admin::create_log.
Result<void> create_log(const Connection& connection, const TopicName& topic, std::int32_t replicas,
                        const Deadline& deadline);

}  // namespace flow::kafka
