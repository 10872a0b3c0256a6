#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/decide/effect.h"
#include "schemas/records.h"
#include "store/facts.h"

// The records that decide writes: one place that makes each of them. Used by engine/decide alone.
namespace flow::decide {

// A record beyond this is refused by brokers with Kafka's own limit of a batch (1 MiB).
inline constexpr std::size_t written_bytes_max = 900 * 1024;

// One group that can never be moved, and Kafka's reason.
struct Failure {
  GroupId group;
  std::string reason;
};

// The guard record as it stands, or the first one, for the request as it will be carried out.
Guard guard_of(const store::RequestFacts& facts, const Request& request);

// What was seen of a target; nothing where it was not looked at, or with other topics.
const port::GroupView* view_of(const port::Observation& seen, const Target& target);

// What the guard record keeps of a look: its own targets.
Seen seen_of(const port::Observation& observation, const std::vector<Target>& targets);

// Everything that ends without a move ends with this. The guard record says so too, so that a done
// that is lost later leaves a damaged request, never an open one.
Write close(Guard guard, DoneOutcome outcome, std::string reason, const Situation& situation,
            const std::vector<Failure>& failures = {});

// Moves the targets that do not fail, and ends the request, in one transaction. Caller has judged
// every target's view.
Move carry_out(Guard guard, const std::vector<Failure>& failures, const Situation& situation);

// The bytes of the largest record of an effect; 0 where it writes none.
std::size_t largest_record(const Effect& effect);

}  // namespace flow::decide
