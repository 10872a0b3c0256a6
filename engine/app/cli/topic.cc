#include <algorithm>
#include <boost/json/array.hpp>
#include <charconv>

#include "engine/app/cli/commands.h"
#include "engine/app/cli/documents.h"
#include "engine/app/log_check.h"

namespace flow::app {
namespace {

constexpr const char* create_examples = R"(
Example:
  flow topic create --bootstrap-server kafka-1:9092
      one partition, compacted, min(3, brokers) replicas
)";

constexpr const char* check_examples = R"(
Example:
  flow topic check --control-topic team-a-control

Exit codes: 0 as it must be; 1 there is no such topic, or something about it is wrong.
)";

struct TopicWords {
  int replicas = 0;
  bool allow_unsafe = false;
};

std::string replica_count_problem(std::string& word) {
  constexpr int replicas_max = 32'767;  // Kafka counts them in 16 bits
  int count = 0;
  const auto [end, wrong] = std::from_chars(word.data(), word.data() + word.size(), count);
  const bool is_count = wrong == std::errc{} && end == word.data() + word.size() && count >= 1 &&
                        count <= replicas_max;
  return is_count ? std::string{} : "'" + word + "' is no number of replicas";
}

void print_state(const Invocation& invocation, const TopicName& topic, const port::LogState& state,
                 const std::vector<LogProblem>& problems, const std::string& verb) {
  if (invocation.output == Output::json) {
    boost::json::array texts;
    for (const auto& problem : problems) {
      texts.emplace_back(problem.text);
    }
    invocation.terminal->out(
        to_text(boost::json::object{{"control_topic", topic.value()},
                                    {"partitions", state.partitions},
                                    {"replicas", state.replicas},
                                    {"brokers", state.brokers},
                                    {"cleanup_policy", state.cleanup_policy},
                                    {"min_insync_replicas", state.min_insync_replicas},
                                    {"unclean_leader_election", state.unclean_leader_election},
                                    {"problems", std::move(texts)}}));
    return;
  }
  if (!problems.empty()) return;
  invocation.terminal->out("control topic '" + topic.value() + "' " + verb + ": " +
                           std::to_string(state.partitions) + " partition, " +
                           std::to_string(state.replicas) + " replica(s), cleanup.policy " +
                           state.cleanup_policy + ", min.insync.replicas " +
                           std::to_string(state.min_insync_replicas) + "\n");
}

std::vector<LogProblem> problems_that_count(const TopicName& topic, const port::LogState& state,
                                            bool allow_unsafe) {
  auto problems = check_log(topic, state);
  std::erase_if(problems, [&](const auto& problem) { return problem.unsafe_only && allow_unsafe; });
  return problems;
}

Exit tell_problems(const std::vector<LogProblem>& problems, Terminal& terminal) {
  for (const auto& problem : problems) {
    terminal.note(problem.text);
  }
  return problems.empty() ? Exit::ok : Exit::refused;
}

Result<Exit> run_check(const TopicWords& words, const Invocation& invocation) {
  BOOST_OUTCOME_TRY(auto session, Session::open(invocation));
  BOOST_OUTCOME_TRY(const auto state, session.log());
  const auto problems = problems_that_count(session.topic(), state, words.allow_unsafe);
  print_state(invocation, session.topic(), state, problems, "is as it must be");
  return tell_problems(problems, *invocation.terminal);
}

Result<Exit> run_create(const TopicWords& words, const Invocation& invocation) {
  BOOST_OUTCOME_TRY(auto session, Session::open(invocation));
  const auto wanted = static_cast<std::int32_t>(words.replicas);
  if (wanted > 0 && wanted < 3 && !words.allow_unsafe) {
    BOOST_OUTCOME_TRY(const auto brokers,
                      session.admin().count_brokers(session.topic(), kafka::default_deadline));
    const std::int32_t safe = std::min(3, brokers);
    if (wanted < safe) {
      return error(Errc::refused, "--replication-factor is " + std::to_string(wanted) +
                                      ", wanted is " + std::to_string(safe) + " on " +
                                      std::to_string(brokers) +
                                      " brokers; leave it out, or go on with --allow-unsafe");
    }
  }
  BOOST_OUTCOME_TRY(const auto state,
                    session.admin().create_log(session.topic(), wanted, kafka::default_deadline));
  const auto problems = problems_that_count(session.topic(), state, words.allow_unsafe);
  print_state(invocation, session.topic(), state, problems, "created");
  return tell_problems(problems, *invocation.terminal);
}

}  // namespace

void add_topic(CLI::App& root, Chosen& chosen) {
  auto* topic = root.add_subcommand("topic", "make or check the control topic")->group("Commands");
  topic->require_subcommand(1);
  topic->footer("\nExample:\n  flow topic create\n  flow topic check\n");

  auto words = std::make_shared<TopicWords>();
  auto* create = topic->add_subcommand("create", "make the control topic");
  create
      ->add_option("--replication-factor", words->replicas, "replicas; min(3, brokers) by default")
      ->option_text("N")
      ->check(CLI::Validator{replica_count_problem, ""});
  create->add_flag("--allow-unsafe", words->allow_unsafe,
                   "fewer replicas than min(3, brokers) on purpose");
  add_common_options(*create, chosen, Prints::documents);
  create->footer(create_examples);
  create->callback([&chosen, words] {
    chosen.command = [words](const Invocation& invocation) {
      return run_create(*words, invocation);
    };
  });

  auto* check = topic->add_subcommand("check", "say what is wrong with the control topic");
  check->add_flag("--allow-unsafe", words->allow_unsafe,
                  "let less safety pass: replicas, min.insync.replicas, unclean election");
  add_common_options(*check, chosen, Prints::documents);
  check->footer(check_examples);
  check->callback([&chosen, words] {
    chosen.command = [words](const Invocation& invocation) {
      return run_check(*words, invocation);
    };
  });
}

}  // namespace flow::app
