#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/ports/values.h"
#include "schemas/error.h"

// Blocking calls for the command line, and what the engine's coroutines run on their thread pool.
// Each call ends by its deadline; each error is one line for people that names the broker, topic,
// group or resource.
namespace flow::kafka {

// librdkafka settings by their own names, bootstrap.servers included. Made by client_properties.h.
struct ClientConfig {
  std::map<std::string, std::string> settings;
};

inline constexpr Duration default_deadline{10'000};

// Who is in the engine group of a control topic.
struct EngineGroup {
  std::vector<Member> members;   // client id flow-engine@<host>:<engine id>
  std::optional<Member> leader;  // the one that owns partition 0
};

// One connection for looking and for administration.
class Admin {
 public:
  // Errc::invalid: a setting that librdkafka does not take, named. Does not connect yet.
  static Result<std::unique_ptr<Admin>> make(const ClientConfig& config, std::string client_id);
  virtual ~Admin() = default;

  // Errc::refused: no such topic or missing right; Errc::unreachable: no broker answers. Never
  // creates the topic, also where the broker creates topics on its own: it asks for the
  // configuration first.
  virtual Result<port::LogState> describe_log(const TopicName& topic, Duration deadline) = 0;

  // Creates a control topic (one partition, compact, min.insync.replicas 2 where there are 3
  // replicas, no unclean election). `replicas` 0: min(3, brokers). Errc::refused: exists already,
  // or missing right.
  virtual Result<port::LogState> create_log(const TopicName& topic, std::int32_t replicas,
                                            Duration deadline) = 0;

  // Brokers that are up; `topic` need not exist, and is not made.
  virtual Result<std::int32_t> count_brokers(const TopicName& topic, Duration deadline) = 0;

  // Looks at groups; see port::GroupGateway::observe.
  virtual Result<port::Observation> observe(const port::ObserveRequest& request,
                                            Duration deadline) = 0;

  // Topics for which `group` has committed offsets, with the partitions.
  virtual Result<std::vector<TopicSelection>> committed_topics(const GroupId& group,
                                                               Duration deadline) = 0;

  virtual Result<EngineGroup> engine_group(const TopicName& control_topic, Duration deadline) = 0;
};

// Appends records to the control topic: idempotent, acks=all, not transactional.
class Appender {
 public:
  static Result<std::unique_ptr<Appender>> make(const ClientConfig& config, TopicName control_topic,
                                                std::string client_id);
  virtual ~Appender() = default;

  // Connects and looks at the topic, as append does before its first record; saves append that
  // time. Not at the same time as append. Errors as append's.
  virtual Result<void> prepare(Duration deadline) = 0;

  // Returns the record's position once every in-sync replica has it. Asks for the topic first, so
  // that nothing is created by accident. Errc::unknown: no answer in time, the record may be there.
  virtual Result<LogPosition> append(const port::EncodedRecord& record, Duration deadline) = 0;
};

// Reads the control topic, read_committed, partition 0.
class Scan {
 public:
  static Result<std::unique_ptr<Scan>> make(const ClientConfig& config, TopicName control_topic,
                                            LogPosition from, std::string client_id);
  virtual ~Scan() = default;

  // Waits for records until `deadline` has passed; see port::LogBatch. An empty batch is no error.
  virtual Result<port::LogBatch> next(Duration deadline) = 0;
};

}  // namespace flow::kafka
