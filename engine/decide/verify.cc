#include "engine/decide/verify.h"

#include <algorithm>
#include <array>

#include "store/phase.h"

namespace flow::decide {
namespace {

constexpr std::array<std::int64_t, 5> looks_ms{0, 1'000, 3'000, 10'000, 30'000};

// The first look that is due after the last one was made.
Instant next_look(Instant done_at, const VerificationSituation& situation) {
  const Instant last = done_at + situation.verify_for;
  if (!situation.last_look) {
    return done_at;
  }
  for (const auto at : looks_ms) {
    const Instant look = done_at + Duration{at};
    if (look > *situation.last_look && look < last) {
      return look;
    }
  }
  // Beyond the last one: its look failed, so another is made after a while.
  return std::max(last, *situation.last_look + Duration{1'000});
}

struct Found {
  bool all_stand = true;
  bool any_missing = false;
  bool unstable = false;
  bool unreadable = false;
  std::vector<PartitionOffset> elsewhere;
};

void compare(const PartitionMove& move, const port::PartitionView& view, Found& found) {
  if (view.problem) {
    if (view.problem->errc == Errc::refused) {
      found.any_missing = true;  // the topic is gone
    } else {
      found.unstable = found.unstable || view.problem->errc == Errc::retriable;
      found.unreadable = true;
    }
    return;
  }
  if (view.committed == move.after) {
    return;
  }
  found.all_stand = false;
  if (!view.committed) {
    found.any_missing = true;
    return;
  }
  found.elsewhere.push_back({move.at, view.committed->offset, view.committed->metadata});
}

Found compare_all(const GroupResult& result, const port::GroupView& view) {
  Found found;
  for (const auto& move : result.moves) {
    if (!move.after) {
      continue;
    }
    const auto at =
        std::find_if(view.partitions.begin(), view.partitions.end(),
                     [&](const port::PartitionView& partition) { return partition.at == move.at; });
    if (at == view.partitions.end()) {
      found.any_missing = true;
    } else {
      compare(move, *at, found);
    }
  }
  return found;
}

Standing standing_of(const Found& found, const port::GroupView& view) {
  if (!view.members.empty() || view.state == port::GroupState::active) {
    return Standing::started;
  }
  if (found.any_missing) {
    return Standing::gone;
  }
  return found.all_stand ? Standing::stands : Standing::superseded;
}

const Verified* recorded_of(const store::RequestFacts& facts, const GroupId& group) {
  const auto found = facts.verified.find(group);
  return found != facts.verified.end() && found->second.record ? &*found->second.record : nullptr;
}

bool lacks_last(const store::RequestFacts& facts, const GroupId& group) {
  const auto found = facts.verified.find(group);
  return found == facts.verified.end() || (found->second.record && !found->second.record->last);
}

std::vector<const GroupResult*> moved(const store::RequestFacts& facts) {
  std::vector<const GroupResult*> results;
  for (const auto& [group, copies] : facts.results) {
    const auto* result = store::result_of(facts, group);
    if (result != nullptr && result->failure.empty() && lacks_last(facts, group)) {
      results.push_back(result);
    }
  }
  return results;
}

// Once a later request has moved the group there is nothing left to see of this one.
Verified ended_by_a_later_move(const GroupResult& result, const Verified* recorded, Instant now) {
  Verified verified = recorded != nullptr ? *recorded : Verified{};
  verified.id = result.id;
  verified.group = result.group;
  verified.at = now;
  verified.last = true;
  return verified;
}

port::GroupQuery query_of(const GroupResult& result) {
  port::GroupQuery query{result.group, {}};
  for (const auto& move : result.moves) {
    auto topic =
        std::find_if(query.topics.begin(), query.topics.end(),
                     [&](const TopicSelection& known) { return known.name == move.at.topic; });
    if (topic == query.topics.end()) {
      topic = query.topics.insert(query.topics.end(), TopicSelection{move.at.topic, {}});
    }
    topic->partitions.push_back(move.at.partition);
  }
  return query;
}

bool says_more(const Verified* recorded, const Verified& found) {
  return recorded == nullptr || recorded->standing != found.standing || found.last;
}

}  // namespace

std::optional<Verified> verify(const GroupResult& result, const Verified* recorded,
                               const port::GroupView& view, Instant now, bool first) {
  if (view.problem && view.problem->errc != Errc::refused) {
    return std::nullopt;
  }
  Found found = compare_all(result, view);
  if (view.problem) {
    found.any_missing = true;
  }
  if (found.unreadable && !(first && found.unstable)) {
    return std::nullopt;
  }
  Verified verified;
  verified.id = result.id;
  verified.group = result.group;
  verified.at = now;
  verified.standing = standing_of(found, view);
  verified.members = view.members;
  verified.offsets = std::move(found.elsewhere);
  verified.unstable = first && found.unstable;
  verified.contested = first && verified.standing == Standing::started;
  if (recorded != nullptr) {
    verified.contested = recorded->contested;
    verified.unstable = recorded->unstable;
    // Members that were seen once explain whatever is found later; and offsets that changed without
    // any member are not explained by one that comes afterwards.
    const bool sticks =
        recorded->standing == Standing::started || recorded->standing == Standing::superseded;
    if (sticks) {
      verified.standing = recorded->standing;
      if (verified.members.empty()) {
        verified.members = recorded->members;
      }
    }
  }
  return verified;
}

Effect decide_verification(const store::RequestFacts& facts,
                           const VerificationSituation& situation) {
  const auto* done = store::closing_done(facts);
  if (done == nullptr || !store::is_unverified(facts)) {
    return Rest{};
  }
  Write write;
  Look look;
  const Instant due = next_look(done->at, situation);
  const bool last = situation.now >= done->at + situation.verify_for;
  for (const auto* result : moved(facts)) {
    const auto* recorded = recorded_of(facts, result->group);
    if (situation.moved_again.contains(result->group)) {
      write.records.emplace_back(ended_by_a_later_move(*result, recorded, situation.now));
      continue;
    }
    look.groups.push_back(query_of(*result));
    look.until_stable = look.until_stable || recorded == nullptr;
    if (situation.seen == nullptr) {
      continue;
    }
    const auto view =
        std::find_if(situation.seen->groups.begin(), situation.seen->groups.end(),
                     [&](const port::GroupView& seen) { return seen.group == result->group; });
    if (view == situation.seen->groups.end()) {
      continue;
    }
    auto found = verify(*result, recorded, *view, situation.now, recorded == nullptr);
    if (found) {
      found->last = last;
      if (says_more(recorded, *found)) {
        write.records.emplace_back(*std::move(found));
      }
    }
  }
  if (!write.records.empty()) {
    return write;
  }
  if (situation.seen == nullptr && situation.now >= due && !look.groups.empty()) {
    return look;
  }
  return Rest{due > situation.now ? due : situation.now + Duration{1'000}};
}

}  // namespace flow::decide
