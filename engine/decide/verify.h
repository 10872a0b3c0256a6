#pragma once

#include <optional>
#include <set>

#include "engine/decide/effect.h"
#include "store/facts.h"

namespace flow::decide {

// What became of the offsets after a request was done: looks at 0, 1, 3, 10 and 30 s, a record for
// the first, one for the last, and one whenever what was found changes.
struct VerificationSituation {
  Instant now;
  Duration verify_for{30'000};       // when the last look is
  std::optional<Instant> last_look;  // nothing: none by this engine yet
  // What that look saw; nothing: it has been judged already, or there was none.
  const port::Observation* seen = nullptr;
  // Groups that a later request has moved: what stands there now is that request's.
  std::set<GroupId> moved_again;
};

// Takes a closed request that still lacks a last verified record, and the situation. Returns Rest
// with the next look's time, Look, or Write.
Effect decide_verification(const store::RequestFacts& facts,
                           const VerificationSituation& situation);

// Takes one moved group's result, what is recorded so far and what was seen; returns what became of
// it. Nothing where the look could not tell (a transaction is pending, the broker is away).
std::optional<Verified> verify(const GroupResult& result, const Verified* recorded,
                               const port::GroupView& view, Instant now, bool first);

}  // namespace flow::decide
