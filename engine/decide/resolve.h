#pragma once

#include <string>
#include <vector>

#include "engine/ports/topology.h"
#include "schemas/records.h"

namespace flow::decide {

// What a request's names stand for.
struct Resolution {
  std::vector<Target> targets;  // one a group, in the topology's or the request's order
  std::string problem;          // set: they stand for nothing, with the words that users see
  bool permanent = false;       // the problem will not go away by itself
};

// Takes a request and the topology at this moment; returns the groups and topics that it means.
// Never fails otherwise than by `problem`; a problem is permanent only on a topology that was read
// whole.
Resolution resolve(const Request& request, const port::Topology& topology);

// What is wrong with a request whatever the world looks like (both a pipeline and groups, no topic,
// a negative partition ...); empty where nothing is.
std::string content_problem(const Request& request);

// Whether this version knows how to find `position`.
bool is_supported(const Position& position);

std::string_view to_string(PositionKind kind);

}  // namespace flow::decide
