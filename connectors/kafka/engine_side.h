#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "connectors/kafka/client.h"
#include "engine/ports/control_log.h"
#include "engine/ports/group_gateway.h"

namespace flow::kafka {

struct EngineSideOptions {
  ClientConfig client;
  TopicName control_topic;
  std::string engine_id;
  std::string host;
};

// Everything of Kafka that an engine uses, made together: the ports over one control topic.
class EngineSide {
 public:
  // Errc::invalid: a setting that librdkafka does not take, named. Connects in the background. The loop
  // that runs `loop` is the only thread that may call the ports, and must outlive this object.
  static Result<std::unique_ptr<EngineSide>> make(boost::asio::io_context& loop,
                                                  const EngineSideOptions& options);
  virtual ~EngineSide() = default;

  virtual port::ControlLog& log() = 0;
  virtual port::Leadership& leadership() = 0;
  virtual port::GroupGateway& groups() = 0;
};

}  // namespace flow::kafka
