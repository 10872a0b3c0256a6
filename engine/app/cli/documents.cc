#include "engine/app/cli/documents.h"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include "engine/app/cli/report.h"
#include "engine/app/cli/text.h"
#include "engine/app/instant.h"
#include "engine/decide/decide.h"
#include "store/phase.h"

namespace flow::app {
namespace {

using boost::json::array;
using boost::json::object;
using boost::json::value;

std::string through_word(Through through) {
  switch (through) {
    case Through::record:
      return "record";
    case Through::cli:
      return "cli";
    case Through::annotation:
      return "annotation";
    case Through::http:
      return "http";
  }
  return "unknown";
}

std::string outcome_word(DoneOutcome outcome) {
  switch (outcome) {
    case DoneOutcome::completed:
      return "completed";
    case DoneOutcome::completed_with_failures:
      return "completed_with_failures";
    case DoneOutcome::refused:
      return "refused";
    case DoneOutcome::cancelled:
      return "cancelled";
    case DoneOutcome::expired:
      return "expired";
    case DoneOutcome::left:
      return "left";
  }
  return "unknown";
}

std::string standing_word(Standing standing) {
  switch (standing) {
    case Standing::stands:
      return "stands";
    case Standing::started:
      return "started";
    case Standing::superseded:
      return "superseded";
    case Standing::gone:
      return "gone";
  }
  return "unknown";
}

array texts(const std::vector<std::string>& all) {
  array out;
  for (const auto& text : all) {
    out.emplace_back(valid_utf8(text));
  }
  return out;
}

array topics(const std::vector<TopicSelection>& all) {
  array out;
  for (const auto& topic : all) {
    array partitions;
    for (const auto partition : topic.partitions) {
      partitions.emplace_back(partition);
    }
    out.emplace_back(object{{"topic", valid_utf8(topic.name.value())}, {"partitions", partitions}});
  }
  return out;
}

value committed(const std::optional<Committed>& at) {
  if (!at) return nullptr;
  return object{{"offset", at->offset}, {"metadata", valid_utf8(at->metadata)}};
}

array reasons(const std::vector<Reason>& all) {
  array out;
  for (const auto& reason : all) {
    out.emplace_back(object{{"text", valid_utf8(reason.text)},
                            {"group", text_or_null(reason.group.value())},
                            {"since", to_text(reason.since)},
                            {"until", instant_or_null(reason.until)},
                            {"permanent", reason.permanent}});
  }
  return out;
}

array moves(const std::vector<PartitionMove>& all) {
  array out;
  for (const auto& move : all) {
    out.emplace_back(object{{"topic", valid_utf8(move.at.topic.value())},
                            {"partition", move.at.partition},
                            {"before", committed(move.before)},
                            {"asked", move.asked ? value(*move.asked) : value(nullptr)},
                            {"after", committed(move.after)},
                            {"remark", text_or_null(move.remark)}});
  }
  return out;
}

value verified_document(const store::RequestFacts& facts, const GroupId& group) {
  const auto found = facts.verified.find(group);
  if (found == facts.verified.end() || !found->second.record) return nullptr;
  const auto& verified = *found->second.record;
  array offsets;
  for (const auto& entry : verified.offsets) {
    offsets.emplace_back(object{{"topic", valid_utf8(entry.at.topic.value())},
                                {"partition", entry.at.partition},
                                {"offset", entry.offset ? value(*entry.offset) : value(nullptr)}});
  }
  return object{{"standing", standing_word(verified.standing)},
                {"last", verified.last},
                {"at", to_text(verified.at)},
                {"contested", verified.contested},
                {"unstable", verified.unstable},
                {"members", members_document(verified.members)},
                {"offsets", std::move(offsets)}};
}

array results(const store::RequestFacts& facts) {
  array out;
  for (const auto& [group, by_leader] : facts.results) {
    const auto* result = store::result_of(facts, group);
    object entry{{"group", valid_utf8(group.value())}};
    entry["readable"] = result != nullptr;
    entry["failure"] = result == nullptr ? value(nullptr) : text_or_null(result->failure);
    entry["partitions"] = result == nullptr ? array{} : moves(result->moves);
    entry["verified"] = verified_document(facts, group);
    out.emplace_back(std::move(entry));
  }
  return out;
}

void add_request(object& out, const Request& request) {
  std::vector<std::string> groups;
  for (const auto& group : request.groups) {
    groups.push_back(group.value());
  }
  out["asked_by"] = text_or_null(request.asked_by);
  out["through"] = through_word(request.through);
  out["namespace"] = text_or_null(request.namespace_name);
  out["pipeline"] = text_or_null(request.pipeline);
  out["streamlets"] = texts(request.streamlets);
  out["groups"] = texts(groups);
  out["topics"] = topics(request.topics);
  out["position"] = object{{"kind", position_text(request.position)}};
  out["options"] = object{{"hold", request.options.hold},
                          {"atomic", request.options.atomic},
                          {"create_group", request.options.create_group}};
  out["never_expires"] = request.never_expires;
}

void add_guard(object& out, const Guard& guard) {
  array targets;
  for (const auto& target : guard.targets) {
    targets.emplace_back(object{{"group", valid_utf8(target.group.value())},
                                {"streamlet", text_or_null(target.streamlet)},
                                {"inlet", text_or_null(target.inlet)},
                                {"topics", topics(target.topics)}});
  }
  out["targets"] = std::move(targets);
  out["reasons"] = reasons(guard.reasons);
  out["seen"] = nullptr;
  if (!guard.seen) return;
  array seen;
  for (const auto& group : guard.seen->groups) {
    seen.emplace_back(object{{"group", valid_utf8(group.group.value())},
                             {"state", text_or_null(group.state)},
                             {"members", members_document(group.members)}});
  }
  out["seen"] = object{{"at", to_text(guard.seen->at)}, {"groups", std::move(seen)}};
}

// When it expires: never, at the time that it carries, or a day after it was asked.
value expiry(const store::RequestFacts& facts) {
  const auto request = decide::effective_request(facts);
  if (!request || request->never_expires) return nullptr;
  return instant_or_null(request->expires_at);
}

}  // namespace

value text_or_null(const std::string& text) {
  return text.empty() ? value(nullptr) : value(valid_utf8(text));
}

value instant_or_null(const std::optional<Instant>& at) {
  return at ? value(to_text(*at)) : value(nullptr);
}

array members_document(const std::vector<Member>& members) {
  array out;
  for (const auto& member : members) {
    out.emplace_back(object{{"client_id", text_or_null(member.client_id)},
                            {"host", text_or_null(member.host)},
                            {"member_id", text_or_null(member.member_id)},
                            {"instance_id", text_or_null(member.instance_id)}});
  }
  return out;
}

object request_document(const store::RequestFacts& facts) {
  object out;
  const auto phase = store::phase_of(facts);
  const auto* done = store::closing_done(facts);
  out["id"] = facts.id.value();
  out["phase"] = std::string{store::to_string(phase)};
  out["outcome"] = done == nullptr ? value(nullptr) : value(outcome_word(done->outcome));
  out["reason"] = text_or_null(done == nullptr ? store::damage_of(facts) : done->reason);
  out["asked_at"] = instant_or_null(store::asked_at(facts));
  if (const auto* request = store::accepted_request(facts)) {
    add_request(out, *request);
  } else {
    for (const char* name : {"asked_by", "through", "namespace", "pipeline", "streamlets", "groups",
                             "topics", "position", "options", "never_expires"}) {
      out[name] = nullptr;
    }
  }
  out["expires_at"] = expiry(facts);
  out["other_content"] = has_other_content(facts);
  const auto waits = store::is_open(phase) ? decide::waits_for(facts) : std::vector<std::string>{};
  out["waits_for"] = texts(waits);
  add_guard(out, facts.guard && facts.guard->record ? *facts.guard->record : Guard{});
  const bool cancelled = facts.cancel && facts.cancel->record;
  out["cancel"] = cancelled
                      ? value(object{{"asked_at", to_text(facts.cancel->record->asked_at.value_or(
                                                      facts.cancel->timestamp))},
                                     {"asked_by", text_or_null(facts.cancel->record->asked_by)}})
                      : value(nullptr);
  out["done_at"] = done == nullptr ? value(nullptr) : value(to_text(done->at));
  out["engine"] = done == nullptr ? value(nullptr) : text_or_null(done->engine);
  out["results"] = results(facts);
  return out;
}

std::string to_text(const value& document) { return boost::json::serialize(document) + "\n"; }

}  // namespace flow::app
