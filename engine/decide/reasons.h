#pragma once

#include <string>
#include <vector>

#include "engine/decide/effect.h"
#include "schemas/records.h"

namespace flow::decide {

inline constexpr std::size_t reasons_kept = 32;
// A reason that can never go away refuses a request once it has stood in its guard record for this
// long.
inline constexpr Duration permanent_stands_for{10'000};

// A reason that holds at this moment.
struct Holding {
  std::string text;
  GroupId group;  // empty: of the whole request
  bool permanent = false;
};

// Reasons as the guard record says them: at most reasons_kept of them.
struct Holdings {
  std::vector<Holding> said;
  std::vector<std::size_t> said_by;  // of each reason that was given: which of `said` says it
};

// Takes reasons that hold now; those beyond reasons_kept are said together, permanent ones apart
// from others.
Holdings fold(const std::vector<Holding>& all);

// Takes a guard record's reasons and those that hold now; returns what the record must say: reasons
// that ended get their end, new ones their beginning, those that still hold keep theirs. Oldest
// first, at most reasons_kept, ended ones dropped first.
std::vector<Reason> merge_reasons(std::vector<Reason> recorded, const std::vector<Holding>& holding,
                                  Instant now);

// Whether `recorded` says just what holds now.
bool says_the_same(const std::vector<Reason>& recorded, const std::vector<Holding>& holding);

// Since when this reason has stood in the guard record without a break; nothing: it does not stand
// there.
std::optional<Instant> stands_since(const std::vector<Reason>& recorded, const Holding& holding);

// Takes what was seen of one target; returns why it cannot be moved now. Empty: it can.
std::vector<Holding> judge(const Target& target, const port::GroupView& view,
                           const Request& request, const Situation& situation);

}  // namespace flow::decide
