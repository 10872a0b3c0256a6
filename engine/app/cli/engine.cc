#include <cerrno>
#include <cstring>
#include <filesystem>

#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "connectors/topology/file.h"
#include "engine/app/cli/commands.h"
#include "engine/app/cli/interrupt.h"
#include "engine/app/duration.h"
#include "engine/app/log_check.h"
#include "engine/app/log_setup.h"
#include "engine/app/serve.h"

namespace flow::app {
namespace {

constexpr const char* engine_examples = R"(
Example:
  flow engine --store /var/lib/flow --topology pipelines.yaml

It logs to stderr, says when it is ready, and ends within 10 s of SIGTERM. The store is a
cache of the control topic: deleting it costs a replay. Of several engines one leads and
the others follow, ready to take over.
)";

struct EngineWords {
  ServeOptions options;
  std::string verify_for = "30s";
};

// The folder is made where it is missing; one that cannot be written is told before anything
// starts.
Result<void> prepare_store(const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem == std::errc::no_space_on_device) {
    return boost::outcome_v2::success();  // the engine waits for room
  }
  if (problem) {
    return error(Errc::invalid, "--store: cannot make '" + folder + "': " + problem.message());
  }
  if (!std::filesystem::is_directory(folder)) {
    return error(Errc::invalid, "--store: '" + folder + "' is no folder");
  }
  if (::access(folder.c_str(), R_OK | W_OK | X_OK) != 0) {
    return error(Errc::invalid,
                 "--store: cannot write into '" + folder + "': " + std::strerror(errno));
  }
  return boost::outcome_v2::success();
}

Error stopped(spdlog::logger& logger) {
  logger.info("stopped");
  return error(Errc::cancelled, "stopped while it waited for the broker");
}

// A broker that is away is waited for: an engine that is started beside its broker must not need
// luck. Errc::cancelled: somebody stopped it meanwhile.
Result<port::LogState> described_patiently(Session& session, const LogOptions& log_options) {
  const Duration look_deadline{3'000};
  const Interrupts interrupts;
  const auto logger = make_logger(log_options);
  std::string said;
  for (int pause_ms = 100;; pause_ms = std::min(2 * pause_ms, 2'000)) {
    auto state = session.log(look_deadline);
    if (interrupts.came()) return stopped(*logger);
    if (state) return state;
    const auto& problem = state.error();
    if (problem.errc != Errc::unreachable && problem.errc != Errc::retriable) return state;
    if (problem.detail != said) logger->warn("waiting for the broker: {}", problem.detail);
    said = problem.detail;
    if (!interrupts.came()) ::poll(nullptr, 0, pause_ms);
    if (interrupts.came()) return stopped(*logger);
  }
}

// What only Kafka can tell is asked over a connection that is closed before the engine makes its
// own.
Result<ServeOptions> checked_options(const EngineWords& words, const Invocation& invocation) {
  ServeOptions options = words.options;
  auto verify_for = parse_duration(words.verify_for);
  if (!verify_for) return error(Errc::invalid, "--verify-for: " + verify_for.error().detail);
  options.verify_for = verify_for.value();
  BOOST_OUTCOME_TRY(auto session, Session::open(invocation, Closing::with_the_session));
  BOOST_OUTCOME_TRY(prepare_store(options.store));
  options.kafka = session.settings().kafka;
  options.control_topic = session.topic();
  options.topology = session.settings().topology;
  if (!options.topology.empty()) {
    BOOST_OUTCOME_TRY(topology::load_topology(options.topology));
  }
  BOOST_OUTCOME_TRY(const auto log, described_patiently(session, options.log));
  auto refusal = refusal_of(session.topic(), log, options.allow_unsafe);
  if (!refusal.empty()) return error(Errc::refused, std::move(refusal));
  return options;
}

Result<Exit> run(const EngineWords& words, const Invocation& invocation) {
  const auto options = checked_options(words, invocation);
  if (options) return static_cast<Exit>(run_engine(options.value()));
  if (options.error().errc == Errc::cancelled) return Exit::ok;
  return options.error();
}

CLI::Validator one_of(std::vector<std::string> known) {
  const std::string list = [&] {
    std::string text;
    for (const auto& one : known) text += (text.empty() ? "" : ", ") + one;
    return text;
  }();
  return CLI::Validator{[known = std::move(known), list](std::string& value) {
                          const bool is_known =
                              std::find(known.begin(), known.end(), value) != known.end();
                          return is_known ? std::string{} : "'" + value + "' is not one of " + list;
                        },
                        ""};
}

}  // namespace

void add_engine(CLI::App& root, Chosen& chosen) {
  auto* command =
      root.add_subcommand("engine", "run the engine in the foreground")->group("Commands");
  auto words = std::make_shared<EngineWords>();
  add_text(*command, "--store", words->options.store, "the folder of its store (required)", "DIR")
      ->required();
  command->add_flag("--allow-unsafe", words->options.allow_unsafe,
                    "run though the control topic has less safety than it should");
  add_text(*command, "--verify-for", words->verify_for,
           "how long after a reset the last look at its groups is made, 30s by default",
           "DURATION");
  command->add_option("--log-level", words->options.log.level, "info by default")
      ->option_text("trace|debug|info|warn|error")
      ->check(one_of({"trace", "debug", "info", "warn", "error"}));
  command->add_option("--log-format", words->options.log.format, "text by default")
      ->option_text("text|json")
      ->check(one_of({"text", "json"}));
  add_common_options(*command, chosen, Prints::nothing);
  command->footer(engine_examples);
  command->callback([&chosen, words] {
    chosen.command = [words](const Invocation& invocation) { return run(*words, invocation); };
  });
}

}  // namespace flow::app
