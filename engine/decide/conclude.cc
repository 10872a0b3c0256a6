#include "engine/decide/conclude.h"

#include <algorithm>

namespace flow::decide {

Duration backoff(int failures) {
  constexpr int doublings_max = 7;
  constexpr std::int64_t first_ms = 50;
  constexpr std::int64_t longest_ms = 5'000;
  return Duration{std::min(longest_ms, first_ms << std::clamp(failures, 0, doublings_max))};
}

Conclusion conclude(const port::CommitOutcome& outcome, std::size_t requests, int failures,
                    Instant now) {
  switch (outcome.status) {
    case port::CommitStatus::committed:
      return {After::read_back, now, {}};
    case port::CommitStatus::fenced:
      return {After::prove_leadership, now, {}};
    case port::CommitStatus::unknown:
      return {After::settle, now, {}};
    case port::CommitStatus::aborted:
      break;
  }
  if (outcome.refusals.empty()) {
    return {
        outcome.producer_spent ? After::settle : After::look_again, now + backoff(failures), {}};
  }
  if (requests > 1) {
    return {After::each_alone, now, {}};
  }
  // A foreign commit slipped in between the look and ours: the very next look sees it.
  const bool all_changed = std::all_of(
      outcome.refusals.begin(), outcome.refusals.end(),
      [](const port::GroupRefusal& refusal) { return refusal.kind == port::RefusalKind::changed; });
  const Instant again = all_changed && failures == 0 ? now : now + backoff(failures);
  return {After::look_again, again, outcome.refusals};
}

}  // namespace flow::decide
