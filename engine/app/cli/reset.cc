#include <future>

#include "connectors/topology/file.h"
#include "engine/app/cli/commands.h"
#include "engine/app/cli/documents.h"
#include "engine/app/cli/follow.h"
#include "engine/app/cli/group_check.h"
#include "engine/app/cli/reset_plan.h"
#include "engine/app/cli/text.h"
#include "engine/app/instant.h"
#include "engine/decide/resolve.h"
#include "schemas/codec.h"

namespace flow::app {
namespace {

constexpr const char* reset_examples = R"(
Examples:
  flow reset cart -n shop --wait
      every streamlet of pipeline cart that has an inlet, back to the earliest offsets
  flow reset cart --streamlet router --streamlet totals
      only these
  flow reset --group billing --topic orders --topic refunds:0,2 --to-earliest
      a group named directly; of refunds only the partitions 0 and 2

Exit codes: 0 appended, or done under --wait; 1 refused, failed, or with failures;
2 wrong usage, or something cannot be reached; 3 --wait ended while it still waits.
)";

using AppenderResult = Result<std::shared_ptr<kafka::Appender>>;

// What is asked at one time: each answer costs round trips, and none needs another's.
struct Looks {
  AppenderResult appender;  // connected, and the control topic looked at
  std::optional<bool> engine_runs;
  std::optional<Result<port::Observation>> seen;
};

class Reset {
 public:
  Reset(const Invocation& invocation, ResetPlan plan)
      : invocation_(invocation), terminal_(*invocation.terminal), plan_(std::move(plan)) {}

  Result<Exit> run() {
    BOOST_OUTCOME_TRY(auto session, Session::open(invocation_));
    session_ = std::move(session);
    BOOST_OUTCOME_TRY(resolve_targets());
    const auto looks = look();
    if (!looks.appender) return why_not_writable(looks.appender.error());
    if (plan_.own_id) {
      BOOST_OUTCOME_TRY(const auto known, known_facts());
      if (known) return answer_known(*known, looks);
    }
    BOOST_OUTCOME_TRY(const bool may_append, judge(looks));
    if (!may_append) return Exit::refused;
    return append_and_follow(*looks.appender.value(), looks);
  }

 private:
  // The appender says that the topic is wrong; a longer look says how to mend it.
  Error why_not_writable(const Error& problem) {
    if (problem.errc != Errc::refused) return problem;
    const auto checked = session_->checked_log();
    return checked ? problem : checked.error();
  }

  const Request& request() const { return plan_.request; }

  // Groups and topics, as far as they can be known here: named directly, or by a topology that is
  // given.
  Result<void> resolve_targets() {
    port::Topology topology;
    const auto& file = session_->settings().topology;
    if (request().groups.empty()) {
      if (file.empty()) return boost::outcome_v2::success();
      BOOST_OUTCOME_TRY(topology, topology::load_topology(file));
    }
    BOOST_OUTCOME_TRY(targets_, resolve_names(request(), topology));
    return boost::outcome_v2::success();
  }

  Looks look() {
    auto engine = std::async(std::launch::async, [this] { return session_->engine_runs(); });
    std::optional<std::future<Result<port::Observation>>> seen;
    if (!targets_.empty()) {
      seen = std::async(std::launch::async, [this] { return observe(); });
    }
    Looks looks{prepared_appender(), engine.get(), std::nullopt};
    if (seen) looks.seen = seen->get();
    return looks;
  }

  AppenderResult prepared_appender() {
    BOOST_OUTCOME_TRY(auto appender, session_->appender());
    BOOST_OUTCOME_TRY(appender->prepare(kafka::default_deadline));
    return appender;
  }

  Result<port::Observation> observe() {
    port::ObserveRequest ask;
    for (const auto& target : targets_) {
      // A group on another cluster cannot be looked at from here.
      if (target.cluster.empty()) ask.groups.push_back({target.group, target.topics});
    }
    return session_->admin().observe(ask, kafka::default_deadline);
  }

  Result<std::optional<store::RequestFacts>> known_facts() {
    BOOST_OUTCOME_TRY(const auto state, session_->log());
    BOOST_OUTCOME_TRY(const auto log, session_->read_log(state.start));
    read_to_ = log.next();
    auto facts = log.facts(request().id);
    if (store::phase_of(facts) == store::Phase::unknown) return std::nullopt;
    return facts;
  }

  Result<Exit> answer_known(const store::RequestFacts& facts, const Looks& looks) {
    const auto* accepted = store::accepted_request(facts);
    const std::string id = request().id.value();
    if (accepted == nullptr) {
      terminal_.note("request " + id + " is on the log already, and cannot be read: " +
                     outcome_text(facts) + "; nothing was appended");
      return Exit::refused;
    }
    if (content_digest(*accepted) != content_digest(request())) {
      terminal_.note("request " + id + " is on the log already with other content: " +
                     what_text(*accepted) + "; nothing was appended");
      return Exit::refused;
    }
    const bool waits = plan_.wait_for != WaitFor::nothing;
    announce(facts, false);
    if (store::is_open(store::phase_of(facts))) say_whether_engine_runs(looks);
    if (waits) {
      interrupts_.emplace();
      BOOST_OUTCOME_TRY(const auto scan, session_->scan_from(read_to_));
      return follow_to_the_end(*scan, {facts, plan_.wait_for, plan_.timeout}, false);
    }
    print_ending(facts, false);
    const auto progress = progress_of(facts, WaitFor::done);
    return progress.is_over ? progress.exit : Exit::ok;
  }

  Result<bool> judge(const Looks& looks) {
    if (!looks.seen) return true;
    BOOST_OUTCOME_TRY(const auto& seen, *looks.seen);
    const bool members_are_fine = plan_.when_stopped || plan_.wait_for != WaitFor::nothing;
    const auto verdict = judge_groups(request(), seen, members_are_fine);
    for (const auto& note : verdict.notes) {
      terminal_.note(note);
    }
    for (const auto& refusal : verdict.refusals) {
      terminal_.note(refusal);
    }
    if (!verdict.refusals.empty()) return false;
    if (verdict.failure) return *verdict.failure;
    return true;
  }

  Result<Exit> append_and_follow(kafka::Appender& appender, const Looks& looks) {
    const bool waits = plan_.wait_for != WaitFor::nothing;
    interrupts_.emplace();
    const auto position = appender.append(
        {encode_key(key_of(Record{request()})), encode(request())}, kafka::default_deadline);
    if (!position) {
      if (position.error().errc != Errc::unknown) return position.error();
      return error(Errc::unknown, position.error().detail + "; the same command with --id " +
                                      request().id.value() + " tells, and does not ask twice");
    }
    store::RequestFacts facts;
    facts.id = request().id;
    facts.request = store::Fact<Request>{
        position.value(), *request().asked_at, store::Content::readable, request(), {}};
    announce(facts, true);
    say_whether_engine_runs(looks);
    if (!waits) {
      print_ending(facts, true);
      return Exit::ok;
    }
    // The scan connects while the engine works.
    BOOST_OUTCOME_TRY(const auto scan, session_->scan_from(position.value()));
    return follow_to_the_end(*scan, {facts, plan_.wait_for, plan_.timeout}, true);
  }

  void say_whether_engine_runs(const Looks& looks) {
    if (looks.engine_runs && !*looks.engine_runs) terminal_.note(no_engine_text(session_->topic()));
  }

  Result<Exit> follow_to_the_end(kafka::Scan& scan, Following following, bool appended) {
    BOOST_OUTCOME_TRY(const auto followed,
                      follow(scan, std::move(following), terminal_, *interrupts_));
    print_ending(followed.facts, appended);
    for (const auto& line : verification_lines(followed.facts)) {
      terminal_.note(line);
    }
    if (followed.timed_out) {
      say_still_waiting(*session_, followed, terminal_);
      return Exit::waiting;
    }
    if (!followed.progress.ending.empty()) {
      terminal_.note("reset " + request().id.value() + " " + followed.progress.ending);
    }
    return followed.progress.exit;
  }

  // What is said as soon as it is known that the request is on the log.
  void announce(const store::RequestFacts& facts, bool appended) {
    const std::string id = request().id.value();
    const std::string line = appended
                                 ? "reset requested for " + asked_for(request()) + ": " + id
                                 : "reset " + id + " was requested already: " + outcome_text(facts);
    if (invocation_.output == Output::json) {
      // The document comes at the end; whoever watches wants the id now.
      if (plan_.wait_for != WaitFor::nothing) terminal_.note(line);
    } else {
      terminal_.out((invocation_.quiet ? id : printable(line)) + "\n");
    }
  }

  void print_ending(const store::RequestFacts& facts, bool appended) {
    if (invocation_.output == Output::json) {
      auto document = request_document(facts);
      document["control_topic"] = session_->topic().value();
      document["appended"] = appended;
      terminal_.out(to_text(document));
      return;
    }
    for (const auto& line : result_lines(facts)) {
      if (!invocation_.quiet) terminal_.out(printable(line) + "\n");
    }
    // Under -q nobody would learn why the exit code is 1.
    if (invocation_.quiet) {
      for (const auto& line : failure_lines(facts)) {
        terminal_.note(line);
      }
    }
  }

  const Invocation& invocation_;
  Terminal& terminal_;
  ResetPlan plan_;
  std::optional<Session> session_;
  std::vector<Target> targets_;
  LogPosition read_to_;
  std::optional<Interrupts> interrupts_;  // from just before the request is appended
};

void add_target_options(CLI::App& command, ResetWords& words) {
  command.add_option("PIPELINE", words.pipeline, "the pipeline to reset")->type_name("");
  const char* what = "What to reset";
  add_text(command, "-n,--namespace", words.namespace_name,
           "the pipeline's namespace, where several have one of this name", "NAMESPACE")
      ->group(what);
  add_texts(command, "--streamlet", words.streamlets,
            "only this streamlet of the pipeline; repeatable", "NAME")
      ->group(what);
  add_texts(command, "--group", words.groups, "a consumer group, instead of a pipeline; repeatable",
            "GROUP")
      ->group(what);
  add_texts(command, "--topic", words.topics,
            "a topic of the groups, or some of its partitions; repeatable", "TOPIC[:0,2]")
      ->group(what);
  command
      .add_flag("--to-earliest", words.to_earliest,
                "to the earliest offsets (a PIPELINE's default)")
      ->group(what);
}

void add_behaviour_options(CLI::App& command, ResetWords& words) {
  const char* how = "How";
  command
      .add_flag("--wait{done}", words.wait,
                "follow the request until it is done and looked at once;\n"
                "--wait=verified: until the last look, half a minute later")
      ->group(how);
  add_text(command, "--timeout", words.timeout,
           "how long --wait follows it, 5m by default; the request stays", "DURATION")
      ->group(how);
  command
      .add_flag("--when-stopped", words.when_stopped,
                "append though a group has members: it is done when they are gone")
      ->group(how);
  command
      .add_flag("--hold", words.hold,
                "join the groups and keep everybody out while they are moved.\n"
                "The price: the broker's group.initial.rebalance.delay.ms (3 s), and a\n"
                "Kafka Streams thread that starts meanwhile ends with\n"
                "INCONSISTENT_GROUP_PROTOCOL")
      ->group(how);
  command.add_flag("--atomic", words.atomic, "no group moves unless all can")->group(how);
  command
      .add_flag("--create-group", words.create_group,
                "a --group that does not exist yet is made on purpose")
      ->group(how);
  add_text(command, "--expire-after", words.expire_after,
           "give up when not done by then: 30m, 24h (default), 7d, never", "DURATION")
      ->group(how);
  add_text(command, "--id", words.id,
           "your own id; one that is known appends nothing and tells where it stands", "UUID")
      ->group(how);
}

}  // namespace

void add_reset(CLI::App& root, Chosen& chosen) {
  auto* command =
      root.add_subcommand("reset", "ask for consumer groups to be moved back")->group("Commands");
  auto words = std::make_shared<ResetWords>();
  add_target_options(*command, *words);
  add_behaviour_options(*command, *words);
  add_common_options(*command, chosen, Prints::documents_and_id);
  command->footer(reset_examples);
  command->callback([&chosen, words] {
    chosen.command = [words](const Invocation& invocation) -> Result<Exit> {
      const Asking asking{now(), asked_by(), RequestId{random_uuid()}};
      BOOST_OUTCOME_TRY(auto plan, plan_reset(*words, asking));
      return Reset{invocation, std::move(plan)}.run();
    };
  });
}

}  // namespace flow::app
