#pragma once

#include "connectors/kafka/client.h"
#include "connectors/kafka/connection.h"
#include "engine/ports/values.h"

namespace flow::kafka {

// Members of our own that keep others out of a group (held mode) carry this client id, and the
// control topic.
inline constexpr std::string_view holder_client_id = "flow-hold@";

// What port::GroupGateway::observe promises, blocking. `connection` reads committed.
Result<port::Observation> look_at_groups(const Connection& connection,
                                         const port::ObserveRequest& request,
                                         const Deadline& deadline);

// Topics for which `group` has committed offsets, with the partitions, sorted.
Result<std::vector<TopicSelection>> look_up_committed_topics(const Connection& connection,
                                                             const GroupId& group,
                                                             const Deadline& deadline);

// Who is in the engine group of `control_topic`, and which of them owns its partition 0.
Result<EngineGroup> look_up_engine_group(const Connection& connection,
                                         const TopicName& control_topic, const Deadline& deadline);

// The engine group of a control topic.
GroupId engine_group_of(const TopicName& control_topic);

}  // namespace flow::kafka
