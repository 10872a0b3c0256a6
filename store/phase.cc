#include "store/phase.h"

#include <algorithm>

namespace flow::store {
namespace {

bool intends(const RequestFacts& facts) {
  return std::any_of(facts.intents.begin(), facts.intents.end(), [](const auto& entry) {
    const auto& fact = entry.second;
    return !fact.record || !fact.record->withdrawn;  // an unreadable intent counts as there
  });
}

bool guard_says(const RequestFacts& facts, Verdict verdict) {
  return facts.guard && facts.guard->record && facts.guard->record->verdict == verdict;
}

// Whether it ended, though no done says so any more. A guard record that closed stands in one
// transaction with the done; one that passed does so where nothing was left to do outside that
// transaction.
bool has_ended(const RequestFacts& facts, bool intended) {
  return guard_says(facts, Verdict::closed) ||
         (!intended && (guard_says(facts, Verdict::passed) || !facts.results.empty()));
}

}  // namespace

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::unknown:
      return "unknown";
    case Phase::requested:
      return "requested";
    case Phase::unreadable:
      return "unreadable";
    case Phase::newer:
      return "newer";
    case Phase::waiting:
      return "waiting";
    case Phase::moving:
      return "moving";
    case Phase::closed:
      return "closed";
    case Phase::damaged:
      return "damaged";
  }
  return "unknown";
}

Phase phase_of(const RequestFacts& facts) {
  if (closing_done(facts) != nullptr) {
    return Phase::closed;
  }
  if (!facts.dones.empty()) {
    return Phase::damaged;
  }
  const bool intended = intends(facts);
  if (has_ended(facts, intended)) {
    return Phase::damaged;
  }
  if (intended) {
    return Phase::moving;
  }
  if (facts.guard) {
    switch (facts.guard->content) {
      case Content::readable:
        return facts.guard->record->request ? Phase::waiting : Phase::damaged;
      case Content::newer:
        return Phase::newer;
      case Content::unreadable:
      case Content::erased:
        return Phase::damaged;
    }
  }
  if (!facts.request) {
    return Phase::unknown;
  }
  switch (facts.request->content) {
    case Content::readable:
      return Phase::requested;
    case Content::newer:
      return Phase::newer;
    case Content::unreadable:
    case Content::erased:
      return Phase::unreadable;
  }
  return Phase::unknown;
}

std::string damage_of(const RequestFacts& facts) {
  if (phase_of(facts) != Phase::damaged) {
    return {};
  }
  if (!facts.dones.empty()) {
    const auto& [leader, fact] = *facts.dones.begin();
    const std::string where = " (record at position " + std::to_string(fact.position.value()) + ")";
    switch (fact.content) {
      case Content::erased:
        return "its done record was erased" + where;
      case Content::newer:
        return "its done record is of a newer version of flow" + where;
      case Content::unreadable:
      case Content::readable:
        return "its done record cannot be read: " + fact.problem + where;
    }
  }
  if (!facts.results.empty()) {
    return "it has a result but no done record";
  }
  if (guard_says(facts, Verdict::closed) || guard_says(facts, Verdict::passed)) {
    return "its guard record says that it ended, but its done record is missing";
  }
  return facts.guard->record ? "its guard record holds no request"
                             : "its guard record cannot be read: " + facts.guard->problem;
}

bool is_open(Phase phase) {
  switch (phase) {
    case Phase::requested:
    case Phase::unreadable:
    case Phase::newer:
    case Phase::waiting:
    case Phase::moving:
      return true;
    case Phase::unknown:
    case Phase::closed:
    case Phase::damaged:
      return false;
  }
  return false;
}

bool is_unverified(const RequestFacts& facts) {
  if (phase_of(facts) != Phase::closed) {
    return false;
  }
  return std::any_of(facts.results.begin(), facts.results.end(), [&](const auto& entry) {
    const auto* result = result_of(facts, entry.first);
    if (result == nullptr || !result->failure.empty()) {
      return false;
    }
    const auto verified = facts.verified.find(entry.first);
    // One that cannot be read is left as it is: somebody else's rubbish must not make us write for
    // ever.
    return verified == facts.verified.end() ||
           (verified->second.record && !verified->second.record->last);
  });
}

}  // namespace flow::store
