#include <boost/json/array.hpp>

#include <algorithm>
#include <future>
#include <map>
#include <set>

#include "connectors/topology/file.h"
#include "engine/app/cli/commands.h"
#include "engine/app/cli/documents.h"
#include "engine/app/cli/report.h"
#include "engine/app/cli/reset_plan.h"
#include "engine/app/cli/text.h"
#include "engine/app/instant.h"
#include "engine/decide/resolve.h"

namespace flow::app {
namespace {

constexpr const char* status_examples = R"(
Examples:
  flow status
  flow status cart --topology pipelines.yaml
      also the pipeline's groups that were never reset
  flow status -o json
)";

// Groups of long ago are not asked for: each costs the brokers an answer.
constexpr std::size_t groups_max = 200;

struct StatusWords {
  std::string pipeline;
  std::string namespace_name;
};

// Nothing: they may not be seen.
using Engines = std::optional<kafka::EngineGroup>;

using Groups = std::map<GroupId, std::vector<TopicSelection>>;

class StatusCommand {
 public:
  StatusCommand(const Invocation& invocation, const StatusWords& words)
      : invocation_(invocation), terminal_(*invocation.terminal), words_(words) {}

  Result<Exit> run() {
    BOOST_OUTCOME_TRY(auto session, Session::open(invocation_));
    session_ = std::move(session);
    BOOST_OUTCOME_TRY(add_topology_groups());
    BOOST_OUTCOME_TRY(const auto state, session_->log());
    const bool is_control_topic = say_what_is_wrong(session_->topic(), state, terminal_);
    auto asking = std::async(std::launch::async, [this] {
      return session_->admin().engine_group(session_->topic(), kafka::default_deadline);
    });
    BOOST_OUTCOME_TRY(const auto log, session_->read_log(state.start));
    choose_requests(log);
    add_known_groups();
    BOOST_OUTCOME_TRY(const auto engines, engines_of(asking.get()));
    BOOST_OUTCOME_TRY(const auto seen, observe());
    if (state.high_watermark > log.next()) {
      terminal_.note("a transaction is open on topic '" + session_->topic().value() +
                     "'; records from position " + std::to_string(log.next().value()) +
                     " on are not visible yet");
    }
    if (engines && engines->members.empty()) {
      terminal_.note(open_requests().empty() ? "no engine is running for control topic '" +
                                                   session_->topic().value() + "'"
                                             : no_engine_text(session_->topic()));
    }
    if (invocation_.quiet) {
      for (const auto* facts : open_requests()) terminal_.out(facts->id.value() + "\n");
    } else if (invocation_.output == Output::json) {
      print_document(log, engines, seen);
    } else {
      print_tables(log, engines, seen);
    }
    return is_control_topic ? Exit::ok : Exit::refused;
  }

 private:
  bool is_asked_for(const Request& request) const {
    if (words_.pipeline.empty()) return true;
    const bool same_namespace = words_.namespace_name.empty() || request.namespace_name.empty() ||
                                request.namespace_name == words_.namespace_name;
    return request.pipeline == words_.pipeline && same_namespace;
  }

  Result<void> add_topology_groups() {
    const auto& file = session_->settings().topology;
    if (file.empty()) return boost::outcome_v2::success();
    BOOST_OUTCOME_TRY(const auto topology, topology::load_topology(file));
    bool found = false;
    for (const auto& pipeline : topology.pipelines) {
      Request request;
      request.pipeline = pipeline.name;
      request.namespace_name = pipeline.namespace_name;
      if (!is_asked_for(request)) continue;
      found = true;
      for (auto& target : decide::resolve(request, topology).targets) {
        if (target.cluster.empty())
          groups_.insert_or_assign(target.group, std::move(target.topics));
      }
    }
    if (found || words_.pipeline.empty()) return boost::outcome_v2::success();
    Request asked;
    asked.pipeline = words_.pipeline;
    asked.namespace_name = words_.namespace_name;
    return error(Errc::refused, no_pipeline_text(asked, topology));
  }

  void choose_requests(const LogFacts& log) {
    for (const auto& [id, facts] : log.requests()) {
      const auto* request = store::accepted_request(facts);
      if (request != nullptr ? !is_asked_for(*request) : !words_.pipeline.empty()) continue;
      chosen_.push_back(&facts);
    }
    std::stable_sort(chosen_.begin(), chosen_.end(), [](const auto* a, const auto* b) {
      return store::asked_at(*a).value_or(Instant{0}) < store::asked_at(*b).value_or(Instant{0});
    });
  }

  // Groups that the log knows: of open requests all, of past ones the latest.
  void add_known_groups() {
    std::size_t left_out = 0;
    for (auto facts = chosen_.rbegin(); facts != chosen_.rend(); ++facts) {
      const bool open = store::is_open(store::phase_of(**facts));
      for (const auto& target : targets_of(**facts)) {
        if (!target.cluster.empty() || groups_.contains(target.group)) continue;
        if (!open && groups_.size() >= groups_max) {
          ++left_out;
        } else {
          groups_.emplace(target.group, target.topics);
        }
      }
    }
    if (left_out > 0) {
      terminal_.note("only the " + std::to_string(groups_max) +
                     " groups that were asked for last are shown; name a PIPELINE for others");
    }
  }

  static std::vector<Target> targets_of(const store::RequestFacts& facts) {
    if (facts.guard && facts.guard->record && !facts.guard->record->targets.empty()) {
      return facts.guard->record->targets;
    }
    const auto* request = store::accepted_request(facts);
    if (request == nullptr || request->groups.empty()) return {};
    return decide::resolve(*request, port::Topology{}).targets;
  }

  Result<port::Observation> observe() {
    port::ObserveRequest ask;
    for (const auto& [group, topics] : groups_) {
      ask.groups.push_back({group, topics});
    }
    return session_->admin().observe(ask, kafka::default_deadline);
  }

  // Who may read the control topic need not be allowed to see the engines' group.
  Result<Engines> engines_of(Result<kafka::EngineGroup> seen) {
    if (seen) return Engines{std::move(seen).value()};
    if (!seen.error().detail.starts_with("not authorised")) return seen.error();
    terminal_.note("cannot see whether an engine runs: " + seen.error().detail);
    return Engines{};
  }

  static std::string leader_text(const LogFacts& log, const Engines& engines) {
    if (!engines) return "unknown";
    if (engines->members.empty()) return "nobody: no engine is running";
    if (!engines->leader) return "nobody yet: the engines are finding out";
    std::string text = engines->leader->client_id;
    if (!engines->leader->host.empty()) text += " on " + engines->leader->host;
    // The engine record is of the leader only if it is this engine's.
    const bool is_its_record =
        log.leader() && text.find(log.leader()->engine.engine) != std::string::npos;
    return is_its_record ? text + " since " + to_short_text(log.leader()->engine.since)
                         : text + ", which is getting ready";
  }

  std::vector<const store::RequestFacts*> open_requests() const {
    std::vector<const store::RequestFacts*> open;
    for (const auto* facts : chosen_) {
      const auto phase = store::phase_of(*facts);
      if (store::is_open(phase) || phase == store::Phase::damaged) open.push_back(facts);
    }
    return open;
  }

  void print_tables(const LogFacts& log, const Engines& engines, const port::Observation& seen) {
    terminal_.out("control topic  " + session_->topic().value() + "\n");
    terminal_.out("leader         " + printable(leader_text(log, engines)) + "\n");
    if (engines) {
      terminal_.out("engines        " + std::to_string(engines->members.size()) + "\n");
    }
    Table requests{{"OPEN REQUEST", "ASKED AT", "BY", "WHAT", "STATE"}};
    for (const auto* facts : open_requests()) {
      const auto* request = store::accepted_request(*facts);
      const auto at = store::asked_at(*facts);
      requests.add({facts->id.value(), at ? to_short_text(*at) : "",
                    request == nullptr ? "" : request->asked_by,
                    request == nullptr ? "" : what_text(*request), outcome_text(*facts)});
    }
    terminal_.out(requests.empty() ? "\nno open requests\n" : "\n" + requests.text());
    if (!seen.groups.empty()) terminal_.out("\n" + groups_table(seen).text());
  }

  static Table groups_table(const port::Observation& seen) {
    Table table{{"GROUP", "STATE", "MEMBERS", "TOPIC", "PARTITION", "OFFSET", "END", "LAG"}};
    for (const auto& group : seen.groups) {
      const std::string members = std::to_string(group.members.size());
      if (group.problem || group.partitions.empty()) {
        table.add({group.group.value(), group.problem ? group.problem->detail : group.state_name,
                   members, "", "", "", "", ""});
        continue;
      }
      for (const auto& at : group.partitions) {
        const bool known = !at.problem && at.committed;
        table.add({group.group.value(), group.state_name, members, at.at.topic.value(),
                   std::to_string(at.at.partition),
                   at.problem ? at.problem->detail
                   : known    ? std::to_string(at.committed->offset)
                              : "",
                   at.problem ? "" : std::to_string(at.last_stable),
                   known ? std::to_string(at.last_stable - at.committed->offset) : ""});
      }
    }
    return table;
  }

  static boost::json::array partitions_document(const port::GroupView& group) {
    boost::json::array out;
    for (const auto& at : group.partitions) {
      boost::json::object entry{{"topic", at.at.topic.value()}, {"partition", at.at.partition}};
      const bool known = !at.problem && at.committed;
      using boost::json::value;
      entry["offset"] = known ? value(at.committed->offset) : value(nullptr);
      entry["start"] = at.problem ? value(nullptr) : value(at.start);
      entry["end"] = at.problem ? value(nullptr) : value(at.last_stable);
      entry["lag"] = known ? value(at.last_stable - at.committed->offset) : value(nullptr);
      entry["problem"] = at.problem ? value(valid_utf8(at.problem->detail)) : value(nullptr);
      out.emplace_back(std::move(entry));
    }
    return out;
  }

  void print_document(const LogFacts& log, const Engines& engines, const port::Observation& seen) {
    boost::json::array requests;
    for (const auto* facts : open_requests()) {
      requests.emplace_back(request_document(*facts));
    }
    boost::json::array groups;
    for (const auto& group : seen.groups) {
      groups.emplace_back(boost::json::object{
          {"group", valid_utf8(group.group.value())},
          {"state", group.state_name},
          {"members", members_document(group.members)},
          {"problem", text_or_null(group.problem ? group.problem->detail : std::string{})},
          {"partitions", partitions_document(group)}});
    }
    boost::json::value leader = nullptr;
    if (engines && engines->leader) {
      leader = boost::json::object{{"client_id", text_or_null(engines->leader->client_id)},
                                   {"host", text_or_null(engines->leader->host)}};
    }
    boost::json::value members = nullptr;
    if (engines) members = members_document(engines->members);
    boost::json::value record = nullptr;
    if (log.leader()) {
      const auto& engine = log.leader()->engine;
      record = boost::json::object{{"engine", text_or_null(engine.engine)},
                                   {"host", text_or_null(engine.host)},
                                   {"version", text_or_null(engine.version)},
                                   {"since", to_text(engine.since)},
                                   {"number", log.leader()->number.value()}};
    }
    terminal_.out(to_text(boost::json::object{{"control_topic", session_->topic().value()},
                                              {"engines", std::move(members)},
                                              {"leader", std::move(leader)},
                                              {"last_leader_record", std::move(record)},
                                              {"unreadable_records", log.bad_records()},
                                              {"open_requests", std::move(requests)},
                                              {"groups", std::move(groups)}}));
  }

  const Invocation& invocation_;
  Terminal& terminal_;
  const StatusWords& words_;
  std::optional<Session> session_;
  std::vector<const store::RequestFacts*> chosen_;
  Groups groups_;
};

}  // namespace

void add_status(CLI::App& root, Chosen& chosen) {
  auto* command =
      root.add_subcommand("status", "open requests, who leads, groups with offsets and lag")
          ->group("Commands");
  auto words = std::make_shared<StatusWords>();
  command->add_option("PIPELINE", words->pipeline, "only this pipeline's requests and groups")
      ->type_name("");
  add_text(*command, "-n,--namespace", words->namespace_name, "the pipeline's namespace",
           "NAMESPACE");
  add_common_options(*command, chosen, Prints::documents_and_id);
  command->footer(status_examples);
  command->callback([&chosen, words] {
    chosen.command = [words](const Invocation& invocation) {
      return StatusCommand{invocation, *words}.run();
    };
  });
}

}  // namespace flow::app
