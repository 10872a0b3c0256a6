#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>

#include "connectors/kafka/client.h"
#include "engine/ports/control_log.h"
#include "engine/ports/group_gateway.h"

namespace flow::kafka {

// Who this engine is to Kafka.
struct EngineIdentity {
  TopicName control_topic;
  std::string host;
  std::string engine_id;
};

// The engine's three ports to one Kafka cluster. Their coroutines run on the loop's one thread;
// blocking calls run on a small pool of their own. Nothing connects before it is first used.
//
// Destroy it after every coroutine that uses it has ended and before the loop's io_context; that
// waits for the blocking calls still under way, each of which has its deadline.
class EnginePorts {
 public:
  // Errc::invalid: a setting that librdkafka does not take, named.
  static Result<std::unique_ptr<EnginePorts>> make(boost::asio::any_io_executor loop,
                                                   ClientConfig config, EngineIdentity identity);
  virtual ~EnginePorts() = default;

  virtual port::ControlLog& log() = 0;
  virtual port::Leadership& leadership() = 0;
  virtual port::GroupGateway& groups() = 0;
};

}  // namespace flow::kafka
