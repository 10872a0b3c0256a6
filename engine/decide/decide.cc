#include "engine/decide/decide.h"

#include <algorithm>

#include "engine/decide/plan.h"
#include "engine/decide/reasons.h"
#include "engine/decide/resolve.h"
#include "schemas/codec.h"
#include "store/phase.h"

namespace flow::decide {
namespace {

using store::RequestFacts;

// The guard record as it stands, or the first one.
Guard guard_of(const RequestFacts& facts, const Request& request) {
  if (facts.guard && facts.guard->record) {
    Guard guard = *facts.guard->record;
    guard.request = request;
    return guard;
  }
  Guard guard;
  guard.id = request.id;
  guard.request = request;
  guard.digest = content_digest(request);
  return guard;
}

Done done_of(const RequestId& id, DoneOutcome outcome, std::string reason,
             const Situation& situation) {
  return {
      id, situation.self.leader, outcome, std::move(reason), situation.now, situation.self.engine};
}

// Everything that ends without a move ends here. The guard record says so too, so that a done that
// is lost later leaves a damaged request, never an open one.
Write close(Guard guard, DoneOutcome outcome, std::string reason, const Situation& situation,
            std::vector<GroupResult> results = {}) {
  const RequestId id = guard.id;
  guard.verdict = Verdict::closed;
  guard.reasons = merge_reasons(std::move(guard.reasons), {}, situation.now);
  Write write;
  write.records.emplace_back(std::move(guard));
  for (auto& result : results) {
    write.records.emplace_back(std::move(result));
  }
  write.records.emplace_back(done_of(id, outcome, std::move(reason), situation));
  return write;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const auto& text : texts) {
    all += (all.empty() ? "" : "; ") + text;
  }
  return all;
}

std::optional<Instant> earliest(std::optional<Instant> a, std::optional<Instant> b) {
  if (!a || !b) {
    return a ? a : b;
  }
  return std::min(*a, *b);
}

// Waits for reasons that may pass: says so in the guard record when they have changed.
Effect wait(Guard guard, const std::vector<Holding>& holding, std::optional<Instant> again,
            const RequestFacts& facts, const Situation& situation) {
  const bool recorded = facts.guard.has_value();
  if (recorded && says_the_same(guard.reasons, holding)) {
    return Rest{earliest(again, guard.request->expires_at)};
  }
  guard.reasons = merge_reasons(std::move(guard.reasons), holding, situation.now);
  guard.verdict = Verdict::waiting;
  if (situation.seen != nullptr) {
    Seen seen{situation.seen->at, {}, {}};
    for (const auto& view : situation.seen->groups) {
      seen.groups.push_back({view.group, view.state_name, view.members});
    }
    guard.seen = std::move(seen);
  }
  return Write{{std::move(guard)}};
}

bool has_stood(const Guard& guard, const Holding& holding, Instant now) {
  const auto since = stands_since(guard.reasons, holding);
  return since && now - *since >= permanent_stands_for;
}

std::vector<port::GroupQuery> queries(const std::vector<Target>& targets) {
  std::vector<port::GroupQuery> groups;
  for (const auto& target : targets) {
    groups.push_back({target.group, target.topics});
  }
  return groups;
}

const port::GroupView* view_of(const port::Observation& seen, const GroupId& group) {
  const auto found = std::find_if(seen.groups.begin(), seen.groups.end(),
                                  [&](const port::GroupView& view) { return view.group == group; });
  return found == seen.groups.end() ? nullptr : &*found;
}

port::GroupMove move_of(const GroupId& group, const Plan& plan) {
  port::GroupMove move;
  move.group = group;
  for (const auto& partition : plan.moves) {
    move.before.push_back({partition.at, partition.before});
    if (partition.after) {
      move.commits.push_back({partition.at, partition.after->offset, partition.after->metadata});
    }
  }
  return move;
}

// One group that can never be moved, and Kafka's reason.
struct Failure {
  GroupId group;
  std::string reason;
};

GroupResult failed(const Guard& guard, const Failure& failure, const Situation& situation) {
  GroupResult result;
  result.id = guard.id;
  result.group = failure.group;
  result.leader = situation.self.leader;
  result.failure = failure.reason;
  result.request_digest = guard.digest;
  return result;
}

Effect carry_out(Guard guard, const std::vector<Failure>& failures, const Situation& situation) {
  const auto fails = [&](const GroupId& group) {
    return std::find_if(failures.begin(), failures.end(),
                        [&](const Failure& failure) { return failure.group == group; });
  };
  Move move;
  std::vector<Record> results;
  for (const auto& target : guard.targets) {
    if (const auto failure = fails(target.group); failure != failures.end()) {
      results.emplace_back(failed(guard, *failure, situation));
      continue;
    }
    const auto* view = view_of(*situation.seen, target.group);
    auto plan = plan_group(guard.request->position, *view);
    move.moves.push_back(move_of(target.group, plan));
    results.emplace_back(GroupResult{guard.id,
                                     target.group,
                                     situation.self.leader,
                                     std::move(plan.moves),
                                     std::move(plan.identities),
                                     {},
                                     guard.digest});
  }
  const auto outcome =
      failures.empty() ? DoneOutcome::completed : DoneOutcome::completed_with_failures;
  const std::string reason = failures.empty()
                                 ? std::string{}
                                 : std::to_string(failures.size()) + " of " +
                                       std::to_string(guard.targets.size()) + " group(s) failed";
  auto done = done_of(guard.id, outcome, reason, situation);
  guard.verdict = Verdict::passed;
  guard.reasons = merge_reasons(std::move(guard.reasons), {}, situation.now);
  Seen seen{situation.seen->at, {}, {}};
  for (const auto& view : situation.seen->groups) {
    seen.groups.push_back({view.group, view.state_name, view.members});
  }
  guard.seen = std::move(seen);
  move.records.emplace_back(std::move(guard));
  std::move(results.begin(), results.end(), std::back_inserter(move.records));
  move.records.emplace_back(std::move(done));
  return move;
}

// Every target group has been looked at: wait, refuse, or carry out.
Effect judge_all(Guard guard, const RequestFacts& facts, const Situation& situation) {
  std::vector<Holding> holding;
  std::vector<Failure> failures;
  bool passes = true;
  bool all_stood = true;
  std::optional<Instant> stands_at;
  for (const auto& target : guard.targets) {
    for (auto& one :
         judge(target, *view_of(*situation.seen, target.group), *guard.request, situation)) {
      if (!one.permanent) {
        passes = false;
      } else if (has_stood(guard, one, situation.now)) {
        failures.push_back({target.group, one.text});
      } else {
        all_stood = false;
        const auto since = stands_since(guard.reasons, one).value_or(situation.now);
        stands_at = earliest(stands_at, since + permanent_stands_for);
      }
      holding.push_back(std::move(one));
    }
  }
  const auto again = earliest(situation.now + look_again_after, stands_at);
  const bool none_can = failures.size() == guard.targets.size();
  const bool refuses = !failures.empty() && (guard.request->options.atomic || none_can);
  if (all_stood && refuses) {
    std::vector<GroupResult> results;
    std::vector<std::string> texts;
    for (const auto& failure : failures) {
      texts.push_back(failure.reason);
      results.push_back(failed(guard, failure, situation));
    }
    return close(std::move(guard), DoneOutcome::refused, joined(texts), situation,
                 std::move(results));
  }
  if (!passes || !all_stood) {
    return wait(std::move(guard), holding, again, facts, situation);
  }
  if (guard.request->options.hold && !situation.held) {
    auto targets = guard.targets;
    std::erase_if(targets, [&](const Target& target) {
      return std::any_of(failures.begin(), failures.end(),
                         [&](const Failure& failure) { return failure.group == target.group; });
    });
    return Join{queries(targets)};
  }
  return carry_out(std::move(guard), failures, situation);
}

Effect decide_accepted(const RequestFacts& facts, const Request& request,
                       const Situation& situation) {
  Guard guard = guard_of(facts, request);
  if (!is_supported(request.position)) {
    return wait(
        std::move(guard),
        {{"position '" + std::string{to_string(request.position.kind)} + "' needs a newer engine",
          {},
          false}},
        {}, facts, situation);
  }
  if (guard.targets.empty()) {
    auto resolution = resolve(request, *situation.topology);
    if (!resolution.problem.empty()) {
      const Holding holding{resolution.problem, {}, resolution.permanent};
      if (resolution.permanent && has_stood(guard, holding, situation.now)) {
        return close(std::move(guard), DoneOutcome::refused, holding.text, situation);
      }
      const auto since = stands_since(guard.reasons, holding).value_or(situation.now);
      const auto again = earliest(
          resolution.permanent ? std::optional{since + permanent_stands_for} : std::nullopt,
          situation.now + look_again_after);
      return wait(std::move(guard), {holding}, again, facts, situation);
    }
    guard.targets = std::move(resolution.targets);
  }
  if (situation.guard == port::GuardSupport::unchecked && !request.options.hold) {
    return wait(std::move(guard),
                {{"this broker does not check guarded commits; ask again with --hold", {}, false}},
                {}, facts, situation);
  }
  if (situation.behind) {
    return wait(std::move(guard), {{"behind " + situation.behind->value(), {}, false}}, {}, facts,
                situation);
  }
  // What was seen may be of targets that the guard record named before.
  const bool all_seen =
      situation.seen != nullptr &&
      std::all_of(guard.targets.begin(), guard.targets.end(), [&](const Target& target) {
        return view_of(*situation.seen, target.group) != nullptr;
      });
  if (!all_seen) {
    return Look{queries(guard.targets)};
  }
  return judge_all(std::move(guard), facts, situation);
}

Effect decide_open(const RequestFacts& facts, const Situation& situation) {
  const auto request = effective_request(facts);
  FLOW_ASSERT(request.has_value(), facts.id.value());
  if (facts.cancel && facts.cancel->record) {
    const auto& by = facts.cancel->record->asked_by;
    return close(guard_of(facts, *request), DoneOutcome::cancelled,
                 by.empty() ? "cancelled" : "cancelled by " + by, situation);
  }
  if (request->expires_at && situation.now >= *request->expires_at) {
    const std::string why = joined(waits_for(facts));
    return close(guard_of(facts, *request), DoneOutcome::expired,
                 why.empty() ? "its time was up" : "its time was up while it waited: " + why,
                 situation);
  }
  if (const auto problem = content_problem(*request); !problem.empty()) {
    return close(guard_of(facts, *request), DoneOutcome::refused, problem, situation);
  }
  return decide_accepted(facts, *request, situation);
}

}  // namespace

Effect decide(const RequestFacts& facts, const Situation& situation) {
  switch (store::phase_of(facts)) {
    case store::Phase::unknown:
    case store::Phase::closed:
    case store::Phase::damaged:
    case store::Phase::newer:
    case store::Phase::moving:
      return Rest{};
    case store::Phase::unreadable: {
      Guard guard;
      guard.id = facts.id;
      return close(std::move(guard), DoneOutcome::refused,
                   "the request at position " + std::to_string(facts.request->position.value()) +
                       " cannot be read: " + facts.request->problem,
                   situation);
    }
    case store::Phase::requested:
    case store::Phase::waiting:
      return decide_open(facts, situation);
  }
  return Rest{};
}

std::optional<Request> effective_request(const RequestFacts& facts) {
  const auto* accepted = store::accepted_request(facts);
  if (accepted == nullptr) {
    return std::nullopt;
  }
  Request request = *accepted;
  if (!request.asked_at && facts.request) {
    request.asked_at = facts.request->timestamp;
  }
  if (!request.expires_at && !request.never_expires && request.asked_at) {
    request.expires_at = *request.asked_at + default_expiry;
  }
  if (request.never_expires) {
    request.expires_at.reset();
  }
  return request;
}

std::vector<Target> targets_of(const RequestFacts& facts, const port::Topology& topology) {
  if (facts.guard && facts.guard->record && !facts.guard->record->targets.empty()) {
    return facts.guard->record->targets;
  }
  const auto request = effective_request(facts);
  return request ? resolve(*request, topology).targets : std::vector<Target>{};
}

std::vector<GroupId> groups_of(const RequestFacts& facts, const port::Topology& topology) {
  std::vector<GroupId> groups;
  for (const auto& target : targets_of(facts, topology)) {
    groups.push_back(target.group);
  }
  return groups;
}

std::vector<std::string> waits_for(const RequestFacts& facts) {
  std::vector<std::string> texts;
  if (facts.guard && facts.guard->record) {
    for (const auto& reason : facts.guard->record->reasons) {
      if (!reason.until) {
        texts.push_back(reason.text);
      }
    }
  }
  return texts;
}

}  // namespace flow::decide
