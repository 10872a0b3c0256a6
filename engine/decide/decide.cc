#include "engine/decide/decide.h"

#include <algorithm>

#include "engine/decide/reasons.h"
#include "engine/decide/records.h"
#include "engine/decide/resolve.h"
#include "schemas/codec.h"
#include "store/phase.h"

namespace flow::decide {
namespace {

using store::RequestFacts;

// The reason of a done names so many of them.
constexpr std::size_t joined_max = 10;

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (std::size_t i = 0; i < texts.size() && i < joined_max; ++i) {
    all += (i == 0 ? "" : "; ") + texts[i];
  }
  if (texts.size() > joined_max) {
    all += "; and " + std::to_string(texts.size() - joined_max) + " more";
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
    guard.seen = seen_of(*situation.seen, guard.targets);
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

// What was found of all targets.
struct Judged {
  Holdings holding;
  std::vector<Failure> failures;     // permanent, and has stood
  bool passes = true;                // nothing that may pass by itself holds
  bool all_stood = true;             // no permanent reason is too young
  std::optional<Instant> stands_at;  // when the first of the young ones has stood
};

Judged judge_targets(const Guard& guard, const Situation& situation) {
  std::vector<Holding> all;
  for (const auto& target : guard.targets) {
    for (auto& one : judge(target, *view_of(*situation.seen, target), *guard.request, situation)) {
      all.push_back(std::move(one));
    }
  }
  Judged judged;
  judged.holding = fold(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Holding& said = judged.holding.said[judged.holding.said_by[i]];
    if (!all[i].permanent) {
      judged.passes = false;
    } else if (has_stood(guard, said, situation.now)) {
      judged.failures.push_back({all[i].group, all[i].text});
    } else {
      judged.all_stood = false;
      const auto since = stands_since(guard.reasons, said).value_or(situation.now);
      judged.stands_at = earliest(judged.stands_at, since + permanent_stands_for);
    }
  }
  return judged;
}

Join join_of(const Guard& guard, const std::vector<Failure>& failures) {
  auto targets = guard.targets;
  std::erase_if(targets, [&](const Target& target) {
    return std::any_of(failures.begin(), failures.end(),
                       [&](const Failure& failure) { return failure.group == target.group; });
  });
  return Join{queries(targets)};
}

// What is told before an attempt that takes long, or that has failed before, is made.
std::optional<Holding> attempt(const Guard& guard, const Situation& situation) {
  // What an earlier attempt found stands until this one finds otherwise: to end it now would begin
  // its ten seconds anew every time.
  const bool stands =
      std::any_of(guard.reasons.begin(), guard.reasons.end(),
                  [](const Reason& reason) { return reason.permanent && !reason.until; });
  if (stands) {
    return std::nullopt;
  }
  if (!situation.failing.empty()) {
    return Holding{situation.failing + "; it is tried again", {}, false};
  }
  if (guard.request->options.hold && !situation.held) {
    return Holding{"its groups are being joined to hold them", {}, false};
  }
  return std::nullopt;
}

// Every target group has been looked at: wait, refuse, or carry out.
Effect judge_all(Guard guard, const RequestFacts& facts, const Situation& situation) {
  Judged judged = judge_targets(guard, situation);
  const auto& failures = judged.failures;
  const bool none_can = failures.size() == guard.targets.size();
  const bool refuses = !failures.empty() && (guard.request->options.atomic || none_can);
  if (judged.all_stood && refuses) {
    std::vector<std::string> texts;
    for (const auto& failure : failures) {
      texts.push_back(failure.reason);
    }
    return close(std::move(guard), DoneOutcome::refused, joined(texts), situation, failures);
  }
  if (!judged.passes || !judged.all_stood) {
    const auto again = earliest(situation.now + look_again_after, judged.stands_at);
    return wait(std::move(guard), judged.holding.said, again, facts, situation);
  }
  if (auto trying = situation.held ? std::nullopt : attempt(guard, situation)) {
    judged.holding.said.push_back(*std::move(trying));
    if (!facts.guard || !says_the_same(guard.reasons, judged.holding.said)) {
      return wait(std::move(guard), judged.holding.said, {}, facts, situation);
    }
  }
  if (guard.request->options.hold && !situation.held) {
    return join_of(guard, failures);
  }
  return carry_out(std::move(guard), failures, situation);
}

// What keeps every group of a request from being looked at, and may pass.
std::optional<std::string> waits_unseen(const Guard& guard, const Situation& situation) {
  if (situation.guard == port::GuardSupport::unchecked && !guard.request->options.hold) {
    return "this broker does not check guarded commits; ask again with --hold";
  }
  for (const auto& target : guard.targets) {
    if (!target.cluster.empty()) {
      return target.group.value() + " is on Kafka cluster '" + target.cluster +
             "'; this engine moves groups of the control topic's own cluster only";
    }
  }
  if (situation.behind) {
    // What that one waits for is in its own record, and changes there.
    const auto& id = situation.behind->value();
    return "behind " + id + ", which names one of its groups and came first; see: flow history " +
           id;
  }
  return std::nullopt;
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
  if (auto why = waits_unseen(guard, situation)) {
    return wait(std::move(guard), {{*std::move(why), {}, false}}, {}, facts, situation);
  }
  // What was seen may be of targets that the guard record named before.
  const bool all_seen =
      situation.seen != nullptr &&
      std::all_of(guard.targets.begin(), guard.targets.end(), [&](const Target& target) {
        return view_of(*situation.seen, target) != nullptr;
      });
  if (!all_seen) {
    return Look{queries(guard.targets)};
  }
  return judge_all(std::move(guard), facts, situation);
}

std::optional<std::string> cancelled_by(const RequestFacts& facts) {
  if (!facts.cancel || !facts.cancel->record) {
    return std::nullopt;
  }
  const auto& by = facts.cancel->record->asked_by;
  return by.empty() ? "cancelled" : "cancelled by " + by;
}

// What this version cannot read it never carries out, and can still give up when it is asked to;
// one that a newer engine has accepted is that engine's.
Effect decide_newer(const RequestFacts& facts, const Situation& situation) {
  auto cancelled = cancelled_by(facts);
  if (facts.guard || !cancelled) {
    return Rest{};
  }
  Guard guard;
  guard.id = facts.id;
  return close(std::move(guard), DoneOutcome::cancelled, *std::move(cancelled), situation);
}

Effect decide_open(const RequestFacts& facts, const Situation& situation) {
  const auto request = effective_request(facts);
  FLOW_ASSERT(request.has_value(), facts.id.value());
  if (auto cancelled = cancelled_by(facts)) {
    return close(guard_of(facts, *request), DoneOutcome::cancelled, *std::move(cancelled),
                 situation);
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

// A record that the broker would refuse for its size must not be tried for ever.
Effect within_size(Effect effect, const RequestFacts& facts, const Situation& situation) {
  const std::size_t bytes = largest_record(effect);
  if (bytes <= written_bytes_max) {
    return effect;
  }
  Guard guard = guard_of(facts, *effective_request(facts));
  guard.targets.clear();
  guard.reasons.clear();
  guard.seen.reset();
  if (encode(guard).size() > written_bytes_max) {
    guard.request.reset();
  }
  return close(std::move(guard), DoneOutcome::refused,
               "it is too large: one of its records would have " + std::to_string(bytes) +
                   " bytes, more than " + std::to_string(written_bytes_max) +
                   "; ask for fewer groups or topics at once",
               situation);
}

}  // namespace

Effect decide(const RequestFacts& facts, const Situation& situation) {
  switch (store::phase_of(facts)) {
    case store::Phase::unknown:
    case store::Phase::closed:
    case store::Phase::damaged:
    case store::Phase::moving:
      return Rest{};
    case store::Phase::newer:
      return decide_newer(facts, situation);
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
      return within_size(decide_open(facts, situation), facts, situation);
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
    // Whoever asks with a clock that is ahead must not be carried out weeks later.
    const bool stamped = facts.request && facts.request->timestamp > Instant{0};
    request.expires_at =
        (stamped ? std::min(*request.asked_at, facts.request->timestamp) : *request.asked_at) +
        default_expiry;
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
