#pragma once

#include <vector>

#include "engine/ports/values.h"

namespace flow::decide {

// What the engine does after a transaction.
enum class After : std::uint8_t {
  read_back,   // it is in the log: decide again when its records have been read
  look_again,  // nothing happened: look at the groups again, at `again`
  each_alone,  // nothing happened, and one of several requests was the reason: each tries by itself
  settle,      // a new producer first, then read the log to its end, then decide from its facts
  prove_leadership,  // another engine may lead
};

struct Conclusion {
  After after = After::look_again;
  Instant again;                               // look_again: when
  std::vector<port::GroupRefusal> remembered;  // told to the next decisions of these groups
};

// Takes a transaction's outcome, how many requests it carried, and how many times in a row these
// have failed (0: the first time). Pure and total.
Conclusion conclude(const port::CommitOutcome& outcome, std::size_t requests, int failures,
                    Instant now);

// How long to wait after `failures` in a row: 50 ms, doubling, at most 5 s.
Duration backoff(int failures);

}  // namespace flow::decide
