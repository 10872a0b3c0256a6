#pragma once

#include "engine/app/cli/interrupt.h"
#include "engine/app/cli/report.h"
#include "engine/app/cli/session.h"

namespace flow::app {

struct Following {
  store::RequestFacts facts;  // known so far
  WaitFor wait_for = WaitFor::done;
  Duration timeout;
};

// How following a request ended.
struct Followed {
  store::RequestFacts facts;
  Progress progress;
  bool timed_out = false;  // or interrupted
};

// Reads `scan` and shows what the request waits for as that changes, until it is over, the time is
// up, or somebody interrupts. Trouble with the broker is shown and waited out; any other error ends
// it.
Result<Followed> follow(kafka::Scan& scan, Following following, Terminal& terminal,
                        const Interrupts& interrupts);

// Says on stderr that it still waits, and why; asks whether an engine runs at all.
void say_still_waiting(Session& session, const Followed& followed, Terminal& terminal);

}  // namespace flow::app
