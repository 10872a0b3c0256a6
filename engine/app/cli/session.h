#pragma once

#include <memory>
#include <optional>
#include <string>

#include "connectors/kafka/client.h"
#include "engine/app/cli/log_facts.h"
#include "engine/app/cli/terminal.h"
#include "engine/app/settings.h"

namespace flow::app {

enum class Output : std::uint8_t { table, json };

// What every command was started with.
struct Invocation {
  Flags flags;
  Output output = Output::table;
  bool quiet = false;    // the id alone
  bool verbose = false;  // settings that were left out, and what librdkafka says
  Terminal* terminal = nullptr;
  Environment environment;
};

// Taking a client of librdkafka down costs milliseconds that a command which is about to end need
// not spend.
enum class Closing : std::uint8_t { with_the_process, with_the_session };

// One command's connection to the control topic's cluster. Its calls may be made from several
// threads.
class Session {
 public:
  // Resolves the settings (their notes go to stderr) and makes the admin client; connects to
  // nothing yet.
  static Result<Session> open(const Invocation& invocation,
                              Closing closing = Closing::with_the_process);

  const Settings& settings() const { return settings_; }
  const TopicName& topic() const { return settings_.control_topic; }
  kafka::Admin& admin() { return *admin_; }

  // The control topic as it is, whatever it is.
  Result<port::LogState> log(Duration deadline = kafka::default_deadline);

  // The control topic, refused where it must not be written: Errc::refused with what is wrong.
  Result<port::LogState> checked_log();

  // Reads the whole control topic as it is now, from where it begins.
  Result<LogFacts> read_log(LogPosition start);

  Result<std::shared_ptr<kafka::Scan>> scan_from(LogPosition position) const;
  Result<std::shared_ptr<kafka::Appender>> appender() const;

  // Whether an engine is in the control topic's engine group; nothing: that could not be seen.
  std::optional<bool> engine_runs(Duration deadline = kafka::default_deadline);

 private:
  Session(Settings settings, std::shared_ptr<kafka::Admin> admin, Closing closing)
      : settings_(std::move(settings)), admin_(std::move(admin)), closing_(closing) {}

  Settings settings_;
  std::shared_ptr<kafka::Admin> admin_;
  Closing closing_;
};

// The error, with how to mend it where the control topic is missing.
Error with_way_out(Error problem, const TopicName& control_topic);

// Says on stderr why no engine works with this control topic, a line each, and returns false;
// true: one can.
bool say_what_is_wrong(const TopicName& topic, const port::LogState& state, Terminal& terminal);

// What is said when no engine is there for a request.
std::string no_engine_text(const TopicName& control_topic);

// "user@host" of this process.
std::string asked_by();

Instant now();

}  // namespace flow::app
