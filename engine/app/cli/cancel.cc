#include "engine/app/cli/commands.h"
#include "engine/app/cli/documents.h"
#include "engine/app/cli/follow.h"
#include "engine/app/cli/text.h"
#include "engine/app/duration.h"
#include "schemas/codec.h"

namespace flow::app {
namespace {

constexpr const char* cancel_examples = R"(
Example:
  flow cancel 1b7c2f0e-9a4d-4d3e-8f55-2f1c0b6e9a71

Exit codes: 0 the request ended as cancelled; 1 it had ended before, or is not known;
2 wrong usage, or something cannot be reached; 3 no engine has taken the cancel up yet.
)";

struct CancelWords {
  std::string id;
  std::string timeout = "1m";
};

class CancelCommand {
 public:
  CancelCommand(const Invocation& invocation, RequestId id, Duration timeout)
      : invocation_(invocation),
        terminal_(*invocation.terminal),
        id_(std::move(id)),
        timeout_(timeout) {}

  Result<Exit> run() {
    BOOST_OUTCOME_TRY(auto session, Session::open(invocation_));
    session_ = std::move(session);
    BOOST_OUTCOME_TRY(const auto state, session_->checked_log());
    BOOST_OUTCOME_TRY(const auto log, session_->read_log(state.start));
    auto facts = log.facts(id_);
    const auto phase = store::phase_of(facts);
    if (phase == store::Phase::unknown) {
      terminal_.note("no request " + id_.value() + " on control topic '" +
                     session_->topic().value() + "'");
      return Exit::refused;
    }
    if (!store::is_open(phase)) {
      if (invocation_.output == Output::json) print(facts);
      terminal_.note("reset " + id_.value() + " is " +
                     (phase == store::Phase::closed ? "done already: " : "") + outcome_text(facts));
      return Exit::refused;
    }
    const Interrupts interrupts;
    if (!facts.cancel) {
      BOOST_OUTCOME_TRY(append());
    }
    if (const auto runs = session_->engine_runs(); runs && !*runs) {
      terminal_.note(no_engine_text(session_->topic()));
    }
    BOOST_OUTCOME_TRY(const auto scan, session_->scan_from(log.next()));
    BOOST_OUTCOME_TRY(const auto followed,
                      follow(*scan, {facts, WaitFor::end, timeout_}, terminal_, interrupts));
    return tell(followed);
  }

 private:
  Result<void> append() {
    const Cancel cancel{id_, now(), asked_by()};
    BOOST_OUTCOME_TRY(const auto appender, session_->appender());
    BOOST_OUTCOME_TRY(appender->append({encode_key(key_of(Record{cancel})), encode(cancel)},
                                       kafka::default_deadline));
    return boost::outcome_v2::success();
  }

  Result<Exit> tell(const Followed& followed) {
    print(followed.facts);
    if (followed.timed_out) {
      const auto runs = session_->engine_runs(Duration{2'000});
      terminal_.note("the cancel of " + id_.value() + " stays, but no engine has taken it up yet" +
                     (runs && !*runs ? " (none is running)" : ""));
      return Exit::waiting;
    }
    const auto* done = store::closing_done(followed.facts);
    if (done != nullptr && done->outcome == DoneOutcome::cancelled) return Exit::ok;
    terminal_.note("reset " + id_.value() + " was not cancelled: " + outcome_text(followed.facts));
    return Exit::refused;
  }

  void print(const store::RequestFacts& facts) {
    const auto* done = store::closing_done(facts);
    if (invocation_.output == Output::json) {
      auto document = request_document(facts);
      document["control_topic"] = session_->topic().value();
      terminal_.out(to_text(document));
    } else if (done != nullptr && done->outcome == DoneOutcome::cancelled) {
      terminal_.out(invocation_.quiet ? id_.value() + "\n"
                                      : "reset " + id_.value() + " cancelled\n");
    }
  }

  const Invocation& invocation_;
  Terminal& terminal_;
  RequestId id_;
  Duration timeout_;
  std::optional<Session> session_;
};

Result<Exit> run_cancel(const CancelWords& words, const Invocation& invocation) {
  const auto id = parse_request_id(words.id);
  if (!id) {
    return error(Errc::invalid,
                 "ID: '" + words.id + "' is no request's id (a UUID, as flow reset prints)");
  }
  auto timeout = parse_duration(words.timeout);
  if (!timeout) return error(Errc::invalid, "--timeout: " + timeout.error().detail);
  return CancelCommand{invocation, *id, timeout.value()}.run();
}

}  // namespace

void add_cancel(CLI::App& root, Chosen& chosen) {
  auto* command =
      root.add_subcommand("cancel", "take back a request that still waits")->group("Commands");
  auto words = std::make_shared<CancelWords>();
  command->add_option("ID", words->id, "the request, as flow reset printed it")
      ->type_name("")
      ->required();
  add_text(*command, "--timeout", words->timeout,
           "how long to wait for an engine to take it up, 1m by default", "DURATION");
  add_common_options(*command, chosen, Prints::documents_and_id);
  command->footer(cancel_examples);
  command->callback([&chosen, words] {
    chosen.command = [words](const Invocation& invocation) {
      return run_cancel(*words, invocation);
    };
  });
}

}  // namespace flow::app
