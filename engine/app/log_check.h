#pragma once

#include <string>
#include <vector>

#include "engine/ports/values.h"

namespace flow::app {

// What is wrong with a control topic. `text` is for people: the setting's name, its value, the one
// that is wanted, and how to mend it.
struct LogProblem {
  std::string text;
  bool unsafe_only =
      false;  // --allow-unsafe lets it pass: records may be lost, but nothing goes wrong
};

// Takes a control topic as the broker describes it; returns everything that is wrong, worst first:
// other than one partition, a cleanup policy other than compact, and less safety than min(3,
// brokers) replicas, 2 in sync where there are 3, no unclean election. Pure.
std::vector<LogProblem> check_log(const TopicName& topic, const port::LogState& state);

// The problems that count, as one line; empty where there are none.
std::string refusal_of(const TopicName& topic, const port::LogState& state, bool allow_unsafe);

}  // namespace flow::app
