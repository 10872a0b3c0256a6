#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "engine/app/cli/exit.h"
#include "engine/app/cli/session.h"
#include "schemas/error.h"

namespace flow::app {

// What the chosen command does. An error is printed and becomes the exit code.
using Command = std::function<Result<Exit>(const Invocation&)>;

// Filled while the command line is parsed.
struct Chosen {
  Invocation invocation;
  Command command;
};

// Each adds one command, with its options and help, to `root`.
void add_engine(CLI::App& root, Chosen& chosen);
void add_reset(CLI::App& root, Chosen& chosen);
void add_status(CLI::App& root, Chosen& chosen);
void add_history(CLI::App& root, Chosen& chosen);
void add_cancel(CLI::App& root, Chosen& chosen);
void add_topic(CLI::App& root, Chosen& chosen);

enum class Prints : std::uint8_t { nothing, documents, documents_and_id };

// The options that every command has, and -o and -q where it prints something.
void add_common_options(CLI::App& command, Chosen& chosen, Prints prints);

// A text option: not repeatable, and another option is never taken for its value.
CLI::Option* add_text(CLI::App& command, const std::string& name, std::string& into,
                      const std::string& help, const std::string& value_name);

// The same, repeatable, one value each time.
CLI::Option* add_texts(CLI::App& command, const std::string& name, std::vector<std::string>& into,
                       const std::string& help, const std::string& value_name);

}  // namespace flow::app
