#include <boost/json/array.hpp>

#include <algorithm>

#include "engine/app/cli/commands.h"
#include "engine/app/cli/documents.h"
#include "engine/app/cli/report.h"
#include "engine/app/cli/text.h"
#include "engine/app/duration.h"
#include "engine/app/instant.h"

namespace flow::app {
namespace {

constexpr const char* history_examples = R"(
Examples:
  flow history
  flow history cart --since 7d
  flow history 1b7c2f0e-9a4d-4d3e-8f55-2f1c0b6e9a71
      one request: before and after of each partition, what it waited for, what was found later
)";

struct HistoryWords {
  std::string what;
  std::string since;
};

bool names(const store::RequestFacts& facts, const std::string& what) {
  const auto* request = store::accepted_request(facts);
  if (request == nullptr) return false;
  const bool by_pipeline =
      request->pipeline == what || request->namespace_name + "/" + request->pipeline == what;
  return by_pipeline || std::find(request->groups.begin(), request->groups.end(), GroupId{what}) !=
                            request->groups.end();
}

// When it was asked; of a request that cannot be read, nothing is known.
Instant asked_or_first(const store::RequestFacts& facts) {
  return store::asked_at(facts).value_or(Instant{0});
}

std::vector<const store::RequestFacts*> chosen_requests(const LogFacts& log,
                                                        const std::string& what,
                                                        std::optional<Instant> since) {
  std::vector<const store::RequestFacts*> chosen;
  for (const auto& [id, facts] : log.requests()) {
    if (store::phase_of(facts) == store::Phase::unknown) continue;
    if (!what.empty() && !names(facts, what)) continue;
    if (since && asked_or_first(facts) < *since) continue;
    chosen.push_back(&facts);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](const auto* a, const auto* b) {
    return asked_or_first(*a) < asked_or_first(*b);
  });
  return chosen;
}

std::string offset_text(const std::optional<Committed>& at) {
  return at ? std::to_string(at->offset) : "-";
}

std::string outcome_cell(const store::RequestFacts& facts) {
  return outcome_text(facts) +
         (has_other_content(facts) ? " (a later record of this id has other content)" : "");
}

std::string list_text(const std::vector<const store::RequestFacts*>& requests) {
  Table table{{"ID", "ASKED AT", "BY", "WHAT", "OUTCOME"}};
  for (const auto* facts : requests) {
    const auto* request = store::accepted_request(*facts);
    const auto at = store::asked_at(*facts);
    table.add({facts->id.value(), at ? to_short_text(*at) : "",
               request == nullptr ? "" : request->asked_by,
               request == nullptr ? "" : what_text(*request), outcome_cell(*facts)});
  }
  return table.empty() ? std::string{} : table.text();
}

std::string moves_text(const store::RequestFacts& facts) {
  Table table{{"GROUP", "TOPIC", "PARTITION", "BEFORE", "AFTER", "REMARK"}};
  for (const auto& [group, by_leader] : facts.results) {
    const auto* result = store::result_of(facts, group);
    if (result == nullptr || !result->failure.empty()) continue;
    for (const auto& move : result->moves) {
      table.add({group.value(), move.at.topic.value(), std::to_string(move.at.partition),
                 offset_text(move.before), offset_text(move.after), move.remark});
    }
  }
  return table.empty() ? std::string{} : "\n" + table.text();
}

std::string reasons_text(const Guard& guard) {
  Table table{{"SINCE", "UNTIL", "WAITED FOR"}};
  for (const auto& reason : guard.reasons) {
    table.add({to_text(reason.since), reason.until ? to_text(*reason.until) : "", reason.text});
  }
  return table.empty() ? std::string{} : "\n" + table.text();
}

std::string looks_text(const store::RequestFacts& facts) {
  Table table{{"GROUP", "LOOKED AT", "FOUND", "LAST"}};
  for (const auto& [group, fact] : facts.verified) {
    if (!fact.record) continue;
    table.add({group.value(), to_text(fact.record->at), standing_text(*fact.record),
               fact.record->last ? "yes" : "no"});
  }
  return table.empty() ? std::string{} : "\n" + table.text();
}

std::string details_text(const store::RequestFacts& facts) {
  std::vector<std::pair<std::string, std::string>> lines{{"id", facts.id.value()}};
  const auto at = store::asked_at(facts);
  if (const auto* request = store::accepted_request(facts)) {
    lines.emplace_back("what", what_text(*request));
    lines.emplace_back("asked", (at ? to_text(*at) : "-") + " by " +
                                    (request->asked_by.empty() ? "-" : request->asked_by));
    if (request->expires_at) lines.emplace_back("expires", to_text(*request->expires_at));
  }
  lines.emplace_back("outcome", outcome_cell(facts));
  if (const auto* done = store::closing_done(facts)) {
    lines.emplace_back("done", to_text(done->at) + " by engine " + done->engine);
  }
  if (facts.cancel && facts.cancel->record) {
    const auto& cancel = *facts.cancel->record;
    lines.emplace_back("cancel", to_text(cancel.asked_at.value_or(facts.cancel->timestamp)) +
                                     " by " + (cancel.asked_by.empty() ? "-" : cancel.asked_by));
  }
  std::string text;
  for (const auto& [name, value] : lines) {
    text += name + std::string(9 - name.size(), ' ') + printable(value) + "\n";
  }
  for (const auto& line : result_lines(facts)) {
    text += "result   " + printable(line) + "\n";
  }
  text += moves_text(facts);
  if (facts.guard && facts.guard->record) text += reasons_text(*facts.guard->record);
  return text + looks_text(facts);
}

Result<std::optional<Instant>> since_of(const std::string& word, Terminal& terminal) {
  if (word.empty()) return std::nullopt;
  if (const auto ago = parse_duration(word)) {
    return Instant{now().value() - ago.value().value()};
  }
  const auto at = parse_instant(word);
  if (!at) {
    return error(
        Errc::invalid,
        "--since: '" + word + "' is neither a duration (7d) nor a time (2025-03-01T08:30:00Z)");
  }
  if (at.value().without_zone) {
    terminal.note("--since has no zone; taken as UTC: " + to_text(at.value().at));
  }
  return at.value().at;
}

void say_what_is_bad(const LogFacts& log, const TopicName& topic, Terminal& terminal) {
  const auto* first = log.first_bad();
  if (first == nullptr) return;
  terminal.note(std::to_string(log.bad_records()) + " record(s) of topic '" + topic.value() +
                "' cannot be read; the first is at partition 0, offset " +
                std::to_string(first->first.value()) + ": " + first->problem);
}

// Requests whose id begins with `word`; none where it is no beginning of an id, or too short to be
// meant as one.
std::vector<RequestId> ids_that_begin_with(const LogFacts& log, const std::string& word) {
  constexpr std::size_t shortest = 4;
  const bool is_beginning =
      word.size() >= shortest && word.find_first_not_of("0123456789abcdef-") == std::string::npos;
  std::vector<RequestId> found;
  if (!is_beginning) return found;
  for (const auto& [id, facts] : log.requests()) {
    const bool is_known = store::phase_of(facts) != store::Phase::unknown;
    if (is_known && id.value().starts_with(word)) found.push_back(id);
  }
  return found;
}

// What was looked for where nothing was found.
std::string nothing_text(const HistoryWords& words, const TopicName& topic) {
  const std::string since = words.since.empty() ? "" : " since " + words.since;
  const std::string where = since + " on control topic '" + topic.value() + "'";
  if (words.what.empty()) return "no requests" + where;
  return "no requests for a pipeline (NAME or NAMESPACE/NAME) or group '" + words.what + "'" +
         where;
}

Exit print_one(const LogFacts& log, const RequestId& id, const TopicName& topic,
               const Invocation& invocation) {
  const auto facts = log.facts(id);
  if (store::phase_of(facts) == store::Phase::unknown) {
    invocation.terminal->note("no request " + id.value() + " on control topic '" + topic.value() +
                              "'");
    return Exit::refused;
  }
  if (invocation.output == Output::json) {
    invocation.terminal->out(
        to_text(boost::json::object{{"control_topic", topic.value()},
                                    {"requests", boost::json::array{request_document(facts)}}}));
  } else {
    invocation.terminal->out(details_text(facts));
  }
  return Exit::ok;
}

void print_all(const std::vector<const store::RequestFacts*>& requests, const HistoryWords& words,
               const TopicName& topic, const Invocation& invocation) {
  if (invocation.quiet) {
    for (const auto* facts : requests) invocation.terminal->out(facts->id.value() + "\n");
    return;
  }
  if (invocation.output == Output::table) {
    if (requests.empty()) invocation.terminal->note(nothing_text(words, topic));
    invocation.terminal->out(list_text(requests));
    return;
  }
  boost::json::array documents;
  for (const auto* facts : requests) {
    documents.emplace_back(request_document(*facts));
  }
  invocation.terminal->out(to_text(
      boost::json::object{{"control_topic", topic.value()}, {"requests", std::move(documents)}}));
}

Result<Exit> run_history(const HistoryWords& words, const Invocation& invocation) {
  auto& terminal = *invocation.terminal;
  BOOST_OUTCOME_TRY(const auto since, since_of(words.since, terminal));
  BOOST_OUTCOME_TRY(auto session, Session::open(invocation));
  BOOST_OUTCOME_TRY(const auto state, session.log());
  const bool is_control_topic = say_what_is_wrong(session.topic(), state, terminal);
  BOOST_OUTCOME_TRY(const auto log, session.read_log(state.start));
  say_what_is_bad(log, session.topic(), terminal);
  const Exit read = is_control_topic ? Exit::ok : Exit::refused;
  if (const auto id = parse_request_id(words.what)) {
    return std::max(read, print_one(log, *id, session.topic(), invocation));
  }
  const auto chosen = chosen_requests(log, words.what, since);
  if (chosen.empty()) {
    const auto ids = ids_that_begin_with(log, words.what);
    if (ids.size() == 1) {
      return std::max(read, print_one(log, ids.front(), session.topic(), invocation));
    }
    if (ids.size() > 1) {
      return error(Errc::refused, std::to_string(ids.size()) + " requests begin with '" +
                                      words.what + "': " + ids.front().value() + ", " +
                                      ids.at(1).value() + (ids.size() > 2 ? " ..." : ""));
    }
  }
  print_all(chosen, words, session.topic(), invocation);
  return read;
}

}  // namespace

void add_history(CLI::App& root, Chosen& chosen) {
  auto* command = root.add_subcommand("history", "past requests, straight from the control topic")
                      ->group("Commands");
  auto words = std::make_shared<HistoryWords>();
  command
      ->add_option("PIPELINE|ID", words->what,
                   "a pipeline (or a group), or one request's id or its beginning")
      ->type_name("");
  add_text(*command, "--since", words->since,
           "only those asked since then: 7d, or a time in RFC 3339", "TIME");
  add_common_options(*command, chosen, Prints::documents_and_id);
  command->footer(history_examples);
  command->callback([&chosen, words] {
    chosen.command = [words](const Invocation& invocation) {
      return run_history(*words, invocation);
    };
  });
}

}  // namespace flow::app
