#pragma once

#include <string>

#include "connectors/kafka/client.h"
#include "schemas/ids.h"

namespace flow::app {

struct LogOptions {
  std::string level = "info";   // trace, debug, info, warn, error
  std::string format = "text";  // text, json
};

// What `flow engine` was started with; checked, but for what only Kafka can tell.
struct ServeOptions {
  kafka::ClientConfig kafka;
  TopicName control_topic;
  std::string store;     // a folder; it exists and may be written
  std::string topology;  // a file, or empty: requests for pipelines wait
  LogOptions log;
  bool allow_unsafe = false;
  Duration verify_for{30'000};
};

// Runs the engine in the foreground until SIGTERM or SIGINT; returns the process's exit code. The
// control topic has been checked.
int run_engine(const ServeOptions& options);

}  // namespace flow::app
