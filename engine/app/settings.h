#pragma once

#include <optional>
#include <string>
#include <vector>

#include "connectors/kafka/client_properties.h"
#include "engine/app/contexts.h"

namespace flow::app {

// What the command line said of where Kafka is; nothing where it did not.
struct Flags {
  std::optional<std::string> bootstrap_server;
  std::optional<std::string> command_config;
  std::optional<std::string> control_topic;
  std::optional<std::string> topology;
  std::optional<std::string> context;
};

struct Settings {
  kafka::ClientConfig kafka;
  TopicName control_topic;
  std::string topology;              // a file, or empty
  std::vector<std::string> notes;    // for people, on stderr
  std::vector<std::string> details;  // the same, when asked for
};

inline constexpr const char* default_control_topic = "flow-control";

// Puts together flags, environment (FLOW_BOOTSTRAP_SERVERS, FLOW_COMMAND_CONFIG,
// FLOW_CONTROL_TOPIC, FLOW_TOPOLOGY), the context and the defaults, in this order of precedence,
// and reads the client properties. Errc::invalid: what is wrong, or that nothing says where Kafka
// is, with what to give.
Result<Settings> resolve_settings(const Flags& flags, const Environment& environment);

// The process's own environment.
std::optional<std::string> process_environment(const std::string& name);

// Whether `name` can be a Kafka topic's; empty: yes, else why not.
std::string topic_name_problem(const std::string& name);

}  // namespace flow::app
