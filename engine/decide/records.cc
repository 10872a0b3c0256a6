#include "engine/decide/records.h"

#include <algorithm>

#include "engine/decide/plan.h"
#include "engine/decide/reasons.h"
#include "schemas/codec.h"

namespace flow::decide {
namespace {

Done done_of(const RequestId& id, DoneOutcome outcome, std::string reason,
             const Situation& situation) {
  return {
      id, situation.self.leader, outcome, std::move(reason), situation.now, situation.self.engine};
}

GroupResult failed(const Guard& guard, const Failure& failure, const Situation& situation) {
  GroupResult result;
  result.id = guard.id;
  result.group = failure.group;
  result.leader = situation.self.leader;
  result.failure = failure.reason;
  result.request_digest = guard.digest;
  return result;
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

std::size_t largest(const std::vector<Record>& records) {
  std::size_t bytes = 0;
  for (const auto& record : records) {
    bytes = std::max(bytes, encode(record).size());
  }
  return bytes;
}

}  // namespace

Guard guard_of(const store::RequestFacts& facts, const Request& request) {
  Guard guard;
  if (facts.guard && facts.guard->record) {
    guard = *facts.guard->record;
  } else {
    guard.id = request.id;
    guard.digest = content_digest(request);
  }
  guard.request = request;
  return guard;
}

const port::GroupView* view_of(const port::Observation& seen, const Target& target) {
  const auto asks = [&](const port::PartitionView& partition) {
    return std::any_of(
        target.topics.begin(), target.topics.end(),
        [&](const TopicSelection& topic) { return topic.name == partition.at.topic; });
  };
  const auto found =
      std::find_if(seen.groups.begin(), seen.groups.end(), [&](const port::GroupView& view) {
        return view.group == target.group &&
               std::all_of(view.partitions.begin(), view.partitions.end(), asks);
      });
  return found == seen.groups.end() ? nullptr : &*found;
}

Seen seen_of(const port::Observation& observation, const std::vector<Target>& targets) {
  Seen seen{observation.at, {}, {}};
  for (const auto& target : targets) {
    if (const auto* view = view_of(observation, target)) {
      seen.groups.push_back({view->group, view->state_name, view->members});
    }
  }
  return seen;
}

Write close(Guard guard, DoneOutcome outcome, std::string reason, const Situation& situation,
            const std::vector<Failure>& failures) {
  const RequestId id = guard.id;
  guard.verdict = Verdict::closed;
  guard.reasons = merge_reasons(std::move(guard.reasons), {}, situation.now);
  Write write;
  for (const auto& failure : failures) {
    write.records.emplace_back(failed(guard, failure, situation));
  }
  write.records.insert(write.records.begin(), std::move(guard));
  write.records.emplace_back(done_of(id, outcome, std::move(reason), situation));
  return write;
}

Move carry_out(Guard guard, const std::vector<Failure>& failures, const Situation& situation) {
  Move move;
  std::vector<Record> results;
  for (const auto& target : guard.targets) {
    const auto failure = std::find_if(failures.begin(), failures.end(), [&](const Failure& one) {
      return one.group == target.group;
    });
    if (failure != failures.end()) {
      results.emplace_back(failed(guard, *failure, situation));
      continue;
    }
    auto plan = plan_group(guard.request->position, *view_of(*situation.seen, target));
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
  guard.seen = seen_of(*situation.seen, guard.targets);
  move.records.emplace_back(std::move(guard));
  std::move(results.begin(), results.end(), std::back_inserter(move.records));
  move.records.emplace_back(std::move(done));
  return move;
}

std::size_t largest_record(const Effect& effect) {
  if (const auto* write = std::get_if<Write>(&effect)) {
    return largest(write->records);
  }
  if (const auto* move = std::get_if<Move>(&effect)) {
    return largest(move->records);
  }
  return 0;
}

}  // namespace flow::decide
