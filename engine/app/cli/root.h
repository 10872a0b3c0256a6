#pragma once

#include <string>
#include <vector>

#include "engine/app/cli/commands.h"

namespace flow::app {

// What a command line asks for.
struct Parsed {
  Exit exit = Exit::ok;  // where there is no command to run
  std::string out;       // help or version, for stdout
  std::string problem;   // what is wrong with it, for stderr
};

// Parses the words after the program's name into `chosen`; its command is set if there is one to
// run.
Parsed parse(const std::vector<std::string>& words, Chosen& chosen);

// The whole program: parses, runs, prints, and returns the exit code.
int run(int argc, char** argv);

}  // namespace flow::app
