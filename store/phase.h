#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "store/facts.h"

namespace flow::store {

// Where a request stands, computed from its facts alone.
//
//   facts                                                        phase
//   a readable done                                              closed
//   a done that is erased or cannot be read                      damaged
//   a guard record that closed                                   damaged  (its done is missing)
//   a result or a guard record that passed, no intent            damaged  (its done is missing)
//   an intent that was not withdrawn                             moving
//   a guard record that cannot be read or holds no request       damaged
//   a guard record of a newer version                            newer
//   a guard record that waits                                    waiting
//   a request that can be read                                   requested
//   a request of a newer version                                 newer
//   a request that cannot be read                                unreadable
//   nothing of these                                             unknown
enum class Phase : std::uint8_t {
  unknown,     // no request: a cancel of nothing, for example
  requested,   // asked, not accepted yet
  unreadable,  // to be refused
  newer,       // waits for a newer engine
  waiting,     // accepted, not carried out yet
  moving,      // something outside the control cluster's transaction has begun
  closed,      // done
  damaged,     // facts that must be there are not: named, shown, never executed
};

std::string_view to_string(Phase phase);

Phase phase_of(const RequestFacts& facts);

// For people: why a request is damaged; empty where it is not.
std::string damage_of(const RequestFacts& facts);

// Whether an engine has something left to do for it (verification apart).
bool is_open(Phase phase);

// Whether a closed request still lacks the last verified record of a group that it moved.
bool is_unverified(const RequestFacts& facts);

}  // namespace flow::store
