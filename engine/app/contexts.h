#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "schemas/error.h"

namespace flow::app {

// Returns an environment variable's value, or nothing where it is unset or empty.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// One cluster with its control topic, as the file of contexts describes it. Empty: not said.
struct Context {
  std::string bootstrap_server;
  std::string command_config;
  std::string control_topic;
  std::string topology;
};

struct Contexts {
  std::string file;
  std::string problem;  // why the file could not be read; empty: it was, or there is none
  std::string current;  // current-context, or empty
  std::map<std::string, Context> contexts;
};

// Where the file of contexts is: $XDG_CONFIG_HOME/flow/config.yaml, else
// ~/.config/flow/config.yaml. Empty where neither variable is set.
std::string contexts_file(const Environment& environment);

// Takes the file's text. Relative paths in it are taken from the file's folder, "~/" from `home`.
// Errc::invalid: "<file>:<line>: <field>: <problem>". Pure.
Result<Contexts> parse_contexts(std::string_view text, const std::string& file,
                                const std::string& home);

// Reads the file; one that does not exist is no context at all, and so is one that may not be read
// (a service may have somebody else's HOME): that is the problem of whoever needs a context.
// Errc::invalid: as parse_contexts.
Result<Contexts> load_contexts(const Environment& environment);

}  // namespace flow::app
