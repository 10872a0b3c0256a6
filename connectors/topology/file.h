#pragma once

#include <string>
#include <string_view>

#include "engine/ports/topology.h"
#include "schemas/error.h"

// Pipelines written down in a file, pipelines.yaml; docs/pipelines.yaml is the commented example.
namespace flow::topology {

// Takes the text of a topology file. Errc::invalid: what is wrong, as "<file>:<line>: <field>:
// <problem>"; unknown fields are errors, a likely meant one is named. Of a pipeline nothing is left
// out by an error: it is the whole file or nothing. Pure; anyone may call it.
Result<port::Topology> parse_topology(std::string_view text, const std::string& file);

// Reads and parses a file. Errc::invalid also where it cannot be read.
Result<port::Topology> load_topology(const std::string& file);

}  // namespace flow::topology
