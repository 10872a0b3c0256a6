#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "connectors/kafka/client.h"
#include "connectors/kafka/handles.h"
#include "schemas/error.h"

// Which settings each of our clients runs with. Nothing is left to a default that matters.
namespace flow::kafka {

// In order; a later one wins over an earlier one, also under another name of the same setting.
using Settings = std::vector<std::pair<std::string, std::string>>;

// What every client of ours starts from; the user's own settings win over these.
Settings common_settings();

// Group and offset lookups, topic administration. A consumer handle with a group that it never
// joins: in one without, librdkafka ends the process when a lookup of offsets is answered with
// NOT_COORDINATOR (decision 8). `isolation` is "read_committed" (ends of partitions are last stable
// offsets) or "read_uncommitted" (they are high watermarks); `group` one whose coordinator the user
// may look up.
Settings admin_settings(const std::string& isolation, const GroupId& group);

// Appends single records: idempotent, acknowledged by every in-sync replica.
Settings appender_settings();

// Reads the control topic without a group: no coordinator, no join, no commit.
Settings reader_settings();

// The transactional producer. `transactional_id` fences every other producer of that id.
Settings producer_settings(const std::string& transactional_id);

// How the members of a group share its partitions. `cooperative_sticky` leaves one that has a
// partition its own when another joins (KIP-429); `range` is what consumers offer by default, and
// lets a member be asked to give all up before anybody else gets any.
enum class Assignor : std::uint8_t { range, cooperative_sticky };

// A member of `group` that never fetches and never commits on its own. When it is not asked for
// changes for `max_poll_interval` it leaves; as long, a rebalance of the group waits for it.
Settings member_settings(const std::string& group, Assignor assignor, Duration max_poll_interval);

// Puts together common settings, the user's, and `own`, which win over the user's. Errc::invalid: a
// name or value that librdkafka does not take, named; the value of a setting that holds a secret is
// not repeated.
Result<ConfHandle> make_conf(const ClientConfig& user, const std::string& client_id,
                             const Settings& own);

// The brokers that `config` names, for messages.
std::string bootstrap_servers(const ClientConfig& config);

}  // namespace flow::kafka
