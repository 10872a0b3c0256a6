#pragma once

#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "engine/ports/topology.h"
#include "engine/ports/values.h"
#include "schemas/records.h"

// What decide answers, and what it is told. Plain values: no clock, no I/O.
namespace flow::decide {

// Who decides: stands in every record that the engine writes.
struct Self {
  std::string engine;
  LeaderNumber leader;
};

// Everything beside the request's own facts that a decision may depend on.
struct Situation {
  Instant now;
  Self self;
  const port::Topology* topology = nullptr;
  // An open request that comes first and shares a group.
  std::optional<RequestId> behind;
  // What was seen of every target group, after all that came before; nothing: not looked yet.
  const port::Observation* seen = nullptr;
  // The groups are ours: `seen` was taken while we held them.
  bool held = false;
  // Whether this broker checks the member of a guarded commit.
  port::GuardSupport guard = port::GuardSupport::checked;
  // What the broker answered to earlier attempts, the last answer of each group.
  std::vector<port::GroupRefusal> refusals;
  // Why the last attempts, one after the other, came to nothing; empty: that is not worth telling.
  std::string failing;
};

// Nothing to do before `until`, or before something changes.
struct Rest {
  std::optional<Instant> until;
};

// Look at the targets, then decide again.
struct Look {
  std::vector<port::GroupQuery> groups;
  bool until_stable = false;
};

// Hold the targets, look at them while they are held, then decide again.
struct Join {
  std::vector<port::GroupQuery> groups;
};

// Append these records in one transaction; decide again when they have been read back.
struct Write {
  std::vector<Record> records;
};

// Append these records and move these groups in one transaction.
struct Move {
  std::vector<Record> records;
  std::vector<port::GroupMove> moves;
};

using Effect = std::variant<Rest, Look, Join, Write, Move>;

}  // namespace flow::decide
