#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/decide/effect.h"
#include "store/facts.h"

namespace flow::decide {

inline constexpr Duration look_again_after{1'000};
inline constexpr Duration default_expiry{24 * 3'600 * 1'000};

// Takes a request's facts and the situation; returns what to do next. Total and pure: the same
// input gives the same effect, and nothing is done here.
Effect decide(const store::RequestFacts& facts, const Situation& situation);

// The request as it will be carried out: the guard record's copy, or the request with its own time
// and expiry filled in. Nothing where it cannot be read.
std::optional<Request> effective_request(const store::RequestFacts& facts);

// Consumer groups that an open request is about, for the order among requests that share one.
std::vector<GroupId> groups_of(const store::RequestFacts& facts, const port::Topology& topology);

// Consumer groups with their topics that an open request is about; empty where they are not known
// yet.
std::vector<Target> targets_of(const store::RequestFacts& facts, const port::Topology& topology);

// For people: what an open request waits for, from its facts alone.
std::vector<std::string> waits_for(const store::RequestFacts& facts);

}  // namespace flow::decide
