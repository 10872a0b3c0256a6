#pragma once

#include <string>
#include <vector>

#include "engine/app/cli/exit.h"
#include "store/facts.h"
#include "store/phase.h"

// What a request's facts mean to a person. Pure: rules of the business stand in store/ and
// engine/decide/.
namespace flow::app {

// Until when a request is followed.
enum class WaitFor : std::uint8_t {
  nothing,
  end,       // the done record, whatever it says
  done,      // the done record and each moved group's first verified record
  verified,  // each moved group's last one
};

// "earliest"
std::string position_text(const Position& position);

// "cart", "shop/cart [router]", "group g: orders, bills:0,2"; with where it goes: "... to
// earliest".
std::string what_text(const Request& request);

// "completed", "completed with failures", "waiting", ... as tables show it, with its reason.
std::string outcome_text(const store::RequestFacts& facts);

// What an open request waits for, reasons joined; never empty.
std::string why_waiting(const store::RequestFacts& facts);

// One line a group, in the order in which they were asked for:
//   cart.router.in: 3 partition(s) of 'shop.cart-events.v1' to earliest
//   cart.router.in: <Kafka's reason>
std::vector<std::string> result_lines(const store::RequestFacts& facts);

// Those of them that tell of a failure.
std::vector<std::string> failure_lines(const store::RequestFacts& facts);

// What one look after the move found: "stands", "started: ...", "superseded: ...", with "contested"
// before it.
std::string standing_text(const Verified& verified);

// What the looks after the move found that a person must know (contested, superseded, gone,
// started).
std::vector<std::string> verification_lines(const store::RequestFacts& facts);

// "client 'x' on /127.0.0.1 (static member 'i')", joined.
std::string members_text(const std::vector<Member>& members);

// Where a followed request stands.
struct Progress {
  bool is_over = false;
  Exit exit = Exit::waiting;  // once it is over
  std::string why;            // until then: what it waits for
  std::string ending;         // once it is over and was not carried out: why
};
Progress progress_of(const store::RequestFacts& facts, WaitFor wait_for);

// Whether the request record that lies on the log now asks for something else than what was
// accepted.
bool has_other_content(const store::RequestFacts& facts);

}  // namespace flow::app
