#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

#include "tests/sim/faults.h"
#include "tests/sim/world.h"
#include "tests/support/random.h"

namespace {

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t count = 1;
  bool trace = false;
  bool twice = false;
};

// An assertion of the product ends the process: the seed must still be told.
std::uint64_t running_seed = 0;

void tell_seed(int /*signal*/) {
  char text[64];
  const int size = std::snprintf(text, sizeof text, "flow_sim: seed %llu aborted\n",
                                 static_cast<unsigned long long>(running_seed));
  std::fwrite(text, 1, static_cast<std::size_t>(size), stderr);
  std::_Exit(1);
}

#ifdef FLOW_SIM_FAULTS
bool choose_fault(std::string_view text) {
  for (const auto& [name, fault] : flow::sim::fault_names) {
    if (name == text) {
      flow::sim::chosen_fault = fault;
    }
  }
  return flow::sim::chosen_fault.has_value();
}
#else
bool choose_fault(std::string_view /*text*/) { return false; }
#endif

int usage() {
  std::cerr
      << "usage: flow_sim [--seed N] [--count M] [--trace] [--twice]\n"
         "Runs the worlds of the seeds N to N+M-1; exit 1 at the first in which a promise is\n"
         "broken. --trace tells every step; --twice runs each seed two times and compares.\n"
         "--fault NAME, in flow_sim_faults alone, does one thing wrong on purpose.\n"
         "Without arguments: FLOW_SIM_SEEDS seeds (1,000) from FLOW_TEST_SEED (1).\n";
  return 2;
}

// FLOW_SIM_SEEDS, or else the part of 100,000 that FLOW_TEST_SCALE names, or else 1,000. The
// sanitizers' build is slower, and runs a tenth.
std::uint64_t seeds_to_run() {
  double seeds = 1'000;
  if (const char* scale = std::getenv("FLOW_TEST_SCALE"); scale != nullptr && *scale != '\0') {
    seeds = 100'000 * std::strtod(scale, nullptr);
  }
#ifdef __SANITIZE_ADDRESS__
  seeds /= 10;
#endif
  return flow::test::number_from_environment(
      "FLOW_SIM_SEEDS", std::max<std::uint64_t>(1, static_cast<std::uint64_t>(seeds)));
}

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  options.seed = flow::test::number_from_environment("FLOW_TEST_SEED", 1);
  options.count = argc == 1 ? seeds_to_run() : 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool takes_number = word == "--seed" || word == "--count";
    if (takes_number && i + 1 < argc) {
      const std::string_view text = argv[++i];
      auto& number = word == "--seed" ? options.seed : options.count;
      const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (problem != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
      }
    } else if (word == "--fault" && i + 1 < argc && choose_fault(argv[i + 1])) {
      ++i;
    } else if (word == "--trace") {
      options.trace = true;
    } else if (word == "--twice") {
      options.twice = true;
    } else {
      return std::nullopt;
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse(argc, argv);
  if (!options) {
    return usage();
  }
  std::signal(SIGABRT, tell_seed);
  std::signal(SIGSEGV, tell_seed);
  std::uint64_t dones = 0;
  std::uint64_t moves = 0;
  std::uint64_t calls = 0;
  flow::sim::Verdict most;
  for (std::uint64_t i = 0; i < options->count; ++i) {
    running_seed = options->seed + i;
    const auto verdict = flow::sim::run_seed(running_seed, options->trace || options->twice);
    if (options->trace) {
      std::cout << verdict.trace;
    }
    if (!verdict.violation.empty()) {
      std::cout << "flow_sim: seed " << running_seed << " failed: " << verdict.violation
                << "\nreplay: flow_sim --seed " << running_seed << " --trace\n";
      return 1;
    }
    if (options->twice && flow::sim::run_seed(running_seed, true).trace != verdict.trace) {
      std::cout << "flow_sim: seed " << running_seed << " is not the same twice\n";
      return 1;
    }
    dones += static_cast<std::uint64_t>(verdict.dones);
    moves += static_cast<std::uint64_t>(verdict.moves);
    calls += static_cast<std::uint64_t>(verdict.calls);
    most.done_after = std::max(most.done_after, verdict.done_after);
    most.verified_after = std::max(most.verified_after, verdict.verified_after);
    most.idle_calls = std::max(most.idle_calls, verdict.idle_calls);
    most.busiest_second = std::max(most.busiest_second, verdict.busiest_second);
  }
  std::cout << "flow_sim: " << options->count << " seed(s) from " << options->seed
            << " held: " << dones << " requests done, " << moves << " moved, " << calls
            << " port calls\n"
            << "flow_sim: at most " << most.done_after / flow::sim::seconds
            << " s from the last fault to the last done, "
            << most.verified_after / flow::sim::seconds << " s to the last verified, "
            << most.idle_calls << " calls in 10 idle s, " << most.busiest_second
            << " in the busiest second\n";
  return 0;
}
