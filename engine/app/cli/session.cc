#include "engine/app/cli/session.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <mutex>
#include <vector>

#include "connectors/kafka/log.h"
#include "engine/app/cli/exit.h"
#include "engine/app/log_check.h"

namespace flow::app {
namespace {

constexpr const char* client_id = "flow-cli";

// Reading goes on as long as it gets on; a read that brings nothing for this long has failed.
constexpr Duration read_deadline{10'000};

// Holds a client until the process ends, which it does by _Exit.
template <typename Client>
std::shared_ptr<Client> held(std::unique_ptr<Client> client, Closing closing) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<std::shared_ptr<void>>;
  std::shared_ptr<Client> shared{std::move(client)};
  if (closing == Closing::with_the_process) {
    const std::lock_guard lock{mutex};
    kept->push_back(shared);
  }
  return shared;
}

void show_notes(const Invocation& invocation, const Settings& settings) {
  for (const auto& note : settings.notes) {
    invocation.terminal->note(note);
  }
  if (!invocation.verbose) return;
  for (const auto& detail : settings.details) {
    invocation.terminal->note(detail);
  }
  kafka::set_log_sink([](int, std::string_view client, std::string_view text) {
    const std::string line = std::string{client} + ": " + std::string{text} + "\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  });
}

}  // namespace

Result<Session> Session::open(const Invocation& invocation, Closing closing) {
  BOOST_OUTCOME_TRY(auto settings, resolve_settings(invocation.flags, invocation.environment));
  show_notes(invocation, settings);
  BOOST_OUTCOME_TRY(auto admin, kafka::Admin::make(settings.kafka, client_id));
  return Session{std::move(settings), held(std::move(admin), closing), closing};
}

Result<port::LogState> Session::log(Duration deadline) {
  auto state = admin_->describe_log(topic(), deadline);
  if (!state) return with_way_out(state.error(), topic());
  return state;
}

Result<port::LogState> Session::checked_log() {
  BOOST_OUTCOME_TRY(auto state, log());
  // Less safety is the engine's matter: it refuses to run, and a request does not make it worse.
  constexpr bool allow_unsafe = true;
  if (auto refusal = refusal_of(topic(), state, allow_unsafe); !refusal.empty()) {
    return error(Errc::refused, std::move(refusal));
  }
  return state;
}

Result<LogFacts> Session::read_log(LogPosition start) {
  BOOST_OUTCOME_TRY(auto scan, scan_from(start));
  LogFacts facts;
  for (;;) {
    BOOST_OUTCOME_TRY(const auto batch, scan->next(read_deadline));
    facts.apply(batch);
    if (batch.at_end) return facts;
    if (batch.records.empty()) {
      return error(Errc::unreachable, "no records of topic '" + topic().value() +
                                          "' came within 10 s at position " +
                                          std::to_string(batch.next.value()));
    }
  }
}

Result<std::shared_ptr<kafka::Scan>> Session::scan_from(LogPosition position) const {
  BOOST_OUTCOME_TRY(auto scan, kafka::Scan::make(settings_.kafka, topic(), position, client_id));
  return held(std::move(scan), closing_);
}

Result<std::shared_ptr<kafka::Appender>> Session::appender() const {
  BOOST_OUTCOME_TRY(auto appender, kafka::Appender::make(settings_.kafka, topic(), client_id));
  return held(std::move(appender), closing_);
}

std::optional<bool> Session::engine_runs(Duration deadline) {
  const auto group = admin_->engine_group(topic(), deadline);
  if (!group) return std::nullopt;
  return !group.value().members.empty();
}

Error with_way_out(Error problem, const TopicName& control_topic) {
  const std::string missing = "no such topic '" + control_topic.value() + "'";
  if (problem.detail == missing) {
    problem.detail = "no such control topic '" + control_topic.value() +
                     "'; make it with: flow topic create --control-topic " + control_topic.value();
  }
  return problem;
}

bool say_what_is_wrong(const TopicName& topic, const port::LogState& state, Terminal& terminal) {
  bool is_usable = true;
  for (const auto& problem : check_log(topic, state)) {
    if (problem.unsafe_only) continue;
    terminal.note(problem.text);
    is_usable = false;
  }
  return is_usable;
}

std::string no_engine_text(const TopicName& control_topic) {
  return "no engine is running for control topic '" + control_topic.value() +
         "': the request stays until one starts";
}

std::string asked_by() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const passwd* user = ::getpwuid(::geteuid());
  const std::string name =
      user != nullptr ? std::string{user->pw_name} : std::to_string(::geteuid());
  return name + "@" + host.data();
}

Instant now() {
  const auto time = std::chrono::system_clock::now().time_since_epoch();
  return Instant{std::chrono::duration_cast<std::chrono::milliseconds>(time).count()};
}

}  // namespace flow::app
