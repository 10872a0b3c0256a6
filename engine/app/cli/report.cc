#include "engine/app/cli/report.h"

#include <algorithm>
#include <set>

#include "engine/app/cli/text.h"
#include "engine/app/instant.h"
#include "engine/decide/decide.h"
#include "engine/decide/resolve.h"
#include "schemas/codec.h"

namespace flow::app {
namespace {

std::string quoted(const std::string& text) { return "'" + text + "'"; }

std::string partitions_text(const std::vector<std::int32_t>& partitions) {
  std::vector<std::string> numbers;
  for (const auto partition : partitions) {
    numbers.push_back(std::to_string(partition));
  }
  return joined(numbers, ",");
}

std::string topics_text(const std::vector<TopicSelection>& topics) {
  std::vector<std::string> names;
  for (const auto& topic : topics) {
    names.push_back(topic.name.value() +
                    (topic.partitions.empty() ? "" : ":" + partitions_text(topic.partitions)));
  }
  return joined(names, ", ");
}

std::string groups_text(const std::vector<GroupId>& groups) {
  std::vector<std::string> names;
  for (const auto& group : groups) {
    names.push_back(group.value());
  }
  return (groups.size() == 1 ? "group " : "groups ") + joined(names, ", ");
}

bool was_moved(const GroupResult& result) {
  return result.failure.empty() &&
         std::any_of(result.moves.begin(), result.moves.end(),
                     [](const PartitionMove& move) { return move.after.has_value(); });
}

// The request's own groups first, in its order, then whatever else has a result.
std::vector<GroupId> groups_in_order(const store::RequestFacts& facts) {
  std::vector<GroupId> order;
  if (facts.guard && facts.guard->record) {
    for (const auto& target : facts.guard->record->targets) {
      order.push_back(target.group);
    }
  }
  for (const auto& [group, results] : facts.results) {
    if (std::find(order.begin(), order.end(), group) == order.end()) order.push_back(group);
  }
  return order;
}

std::string moved_text(const GroupResult& result, const std::string& position) {
  std::vector<std::pair<TopicName, int>> counts;
  for (const auto& move : result.moves) {
    if (!move.after) continue;
    const auto same = std::find_if(counts.begin(), counts.end(),
                                   [&](const auto& count) { return count.first == move.at.topic; });
    if (same == counts.end()) {
      counts.emplace_back(move.at.topic, 1);
    } else {
      ++same->second;
    }
  }
  std::vector<std::string> parts;
  for (const auto& [topic, count] : counts) {
    parts.push_back(std::to_string(count) + " partition(s) of " + quoted(topic.value()));
  }
  if (parts.empty()) return "0 partition(s)";
  return joined(parts, ", ") + " to " + position;
}

std::string result_line(const store::RequestFacts& facts, const GroupId& group) {
  const auto* request = store::accepted_request(facts);
  const auto* result = store::result_of(facts, group);
  const std::string name = group.value() + ": ";
  if (result == nullptr) return name + "its result cannot be read";
  if (!result->failure.empty()) return name + result->failure;
  return name + moved_text(*result, request == nullptr ? "?" : position_text(request->position));
}

std::string done_word(DoneOutcome outcome) {
  switch (outcome) {
    case DoneOutcome::completed:
      return "completed";
    case DoneOutcome::completed_with_failures:
      return "completed with failures";
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

// "refused: why"; a reason may begin with the word itself: "cancelled by somebody".
std::string done_text(const Done& done) {
  const std::string word = done_word(done.outcome);
  if (done.reason.starts_with(word)) return done.reason;
  return word + (done.reason.empty() ? "" : ": " + done.reason);
}

bool was_carried_out(DoneOutcome outcome) {
  return outcome == DoneOutcome::completed || outcome == DoneOutcome::completed_with_failures;
}

// Moved groups that lack the verified record that is waited for.
std::vector<std::string> unverified_groups(const store::RequestFacts& facts, WaitFor wait_for) {
  std::vector<std::string> missing;
  for (const auto& [group, results] : facts.results) {
    const auto* result = store::result_of(facts, group);
    if (result == nullptr || !was_moved(*result)) continue;
    const auto verified = facts.verified.find(group);
    // One that cannot be read was written by somebody else, and no engine writes over it.
    const bool is_there = verified != facts.verified.end() &&
                          (!verified->second.record || verified->second.record->last ||
                           wait_for != WaitFor::verified);
    if (!is_there) missing.push_back(group.value());
  }
  return missing;
}

bool lost_its_offsets(const store::RequestFacts& facts) {
  return std::any_of(facts.verified.begin(), facts.verified.end(), [](const auto& entry) {
    const auto& record = entry.second.record;
    return record &&
           (record->standing == Standing::superseded || record->standing == Standing::gone);
  });
}

std::string offsets_text(const std::vector<PartitionOffset>& offsets) {
  std::vector<std::string> parts;
  for (const auto& entry : offsets) {
    parts.push_back(entry.at.topic.value() + ":" + std::to_string(entry.at.partition) + " at " +
                    (entry.offset ? std::to_string(*entry.offset) : "none"));
  }
  return joined(parts, ", ");
}

Progress closed_progress(const store::RequestFacts& facts, const Done& done, WaitFor wait_for) {
  if (!was_carried_out(done.outcome)) {
    return {true, Exit::refused, {}, done_text(done)};
  }
  const bool looks_count = wait_for == WaitFor::done || wait_for == WaitFor::verified;
  if (const auto missing = unverified_groups(facts, wait_for); looks_count && !missing.empty()) {
    return {false, Exit::waiting, "done, but not verified yet: " + joined(missing, ", "), {}};
  }
  const bool lost = wait_for == WaitFor::verified && lost_its_offsets(facts);
  const bool ok = done.outcome == DoneOutcome::completed && !lost;
  return {true, ok ? Exit::ok : Exit::refused, {}, {}};
}

}  // namespace

std::string position_text(const Position& position) {
  return std::string{decide::to_string(position.kind)};
}

std::string what_text(const Request& request) {
  std::string text;
  if (!request.pipeline.empty()) {
    text = (request.namespace_name.empty() ? "" : request.namespace_name + "/") + request.pipeline;
    if (!request.streamlets.empty()) text += " [" + joined(request.streamlets, ", ") + "]";
  } else {
    text = groups_text(request.groups) + ": " + topics_text(request.topics);
  }
  text += " to " + position_text(request.position);
  std::vector<std::string> options;
  if (request.options.hold) options.emplace_back("hold");
  if (request.options.atomic) options.emplace_back("atomic");
  if (request.options.create_group) options.emplace_back("create-group");
  return options.empty() ? text : text + " (" + joined(options, ", ") + ")";
}

std::string outcome_text(const store::RequestFacts& facts) {
  const auto phase = store::phase_of(facts);
  switch (phase) {
    case store::Phase::closed: {
      return done_text(*store::closing_done(facts));
    }
    case store::Phase::damaged:
      return "damaged: " + store::damage_of(facts);
    case store::Phase::waiting:
      return "waiting: " + why_waiting(facts);
    case store::Phase::unreadable:
      return "unreadable: " + facts.request->problem;
    case store::Phase::newer:
      return "newer: " + why_waiting(facts);
    case store::Phase::unknown:
    case store::Phase::requested:
    case store::Phase::moving:
      return std::string{store::to_string(phase)};
  }
  return {};
}

std::string why_waiting(const store::RequestFacts& facts) {
  if (const auto reasons = decide::waits_for(facts); !reasons.empty()) return joined(reasons, "; ");
  switch (store::phase_of(facts)) {
    case store::Phase::newer:
      return "it needs a newer engine";
    case store::Phase::waiting:
      return "the engine is about to carry it out";
    case store::Phase::moving:
      return "it is being carried out";
    case store::Phase::unknown:
    case store::Phase::requested:
    case store::Phase::unreadable:
      return "no engine has taken it up yet";
    case store::Phase::closed:
    case store::Phase::damaged:
      return "nothing";
  }
  return {};
}

std::vector<std::string> result_lines(const store::RequestFacts& facts) {
  std::vector<std::string> lines;
  for (const auto& group : groups_in_order(facts)) {
    if (store::has_result(facts, group)) lines.push_back(result_line(facts, group));
  }
  return lines;
}

std::vector<std::string> failure_lines(const store::RequestFacts& facts) {
  std::vector<std::string> lines;
  for (const auto& group : groups_in_order(facts)) {
    const auto* result = store::result_of(facts, group);
    const bool moved = result != nullptr && result->failure.empty();
    if (store::has_result(facts, group) && !moved) lines.push_back(result_line(facts, group));
  }
  return lines;
}

std::string standing_text(const Verified& verified) {
  std::vector<std::string> parts;
  if (verified.contested) {
    parts.push_back("contested: " + members_text(verified.members) +
                    " was in the group right after the reset, and may have started from where it "
                    "stood before");
  }
  switch (verified.standing) {
    case Standing::stands:
      if (parts.empty()) parts.emplace_back("stands");
      break;
    case Standing::started:
      if (parts.empty()) parts.push_back("started: " + members_text(verified.members));
      break;
    case Standing::superseded:
      parts.push_back("superseded: somebody committed other offsets after the reset: " +
                      offsets_text(verified.offsets));
      break;
    case Standing::gone:
      parts.emplace_back("gone: the offsets expired, or the topic was deleted");
      break;
  }
  if (verified.unstable) {
    parts.emplace_back("unstable: the offsets could not be read back within 1 s of the reset");
  }
  return joined(parts, "; ");
}

std::vector<std::string> verification_lines(const store::RequestFacts& facts) {
  std::vector<std::string> lines;
  for (const auto& group : groups_in_order(facts)) {
    const auto found = facts.verified.find(group);
    if (found == facts.verified.end() || !found->second.record) continue;
    const auto& verified = *found->second.record;
    const bool is_plain =
        verified.standing == Standing::stands && !verified.contested && !verified.unstable;
    if (!is_plain) lines.push_back(group.value() + ": " + standing_text(verified));
  }
  return lines;
}

std::string members_text(const std::vector<Member>& members) {
  constexpr std::size_t named_max = 5;
  std::vector<std::string> names;
  for (const auto& member : members) {
    if (names.size() == named_max) {
      names.push_back("and " + std::to_string(members.size() - named_max) + " more");
      break;
    }
    std::string text =
        "client " + quoted(member.client_id.empty() ? member.member_id : member.client_id);
    if (!member.host.empty()) text += " on " + member.host;
    if (!member.instance_id.empty()) text += " (static member " + quoted(member.instance_id) + ")";
    names.push_back(std::move(text));
  }
  return names.empty() ? "a member that the broker does not name" : joined(names, ", ");
}

Progress progress_of(const store::RequestFacts& facts, WaitFor wait_for) {
  const auto phase = store::phase_of(facts);
  if (phase == store::Phase::damaged) {
    return {true, Exit::refused, {}, "damaged: " + store::damage_of(facts)};
  }
  if (phase != store::Phase::closed) {
    return {false,
            Exit::waiting,
            wait_for == WaitFor::end ? "no engine has taken the cancel up yet" : why_waiting(facts),
            {}};
  }
  return closed_progress(facts, *store::closing_done(facts), wait_for);
}

bool has_other_content(const store::RequestFacts& facts) {
  const bool both = facts.request && facts.request->record && facts.guard && facts.guard->record;
  return both && !facts.guard->record->digest.empty() &&
         content_digest(*facts.request->record) != facts.guard->record->digest;
}

}  // namespace flow::app
