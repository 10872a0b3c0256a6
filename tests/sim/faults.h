#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace flow::sim {

// Things that a careless engine, connector or broker might do. One can be chosen in the build
// flow_sim_faults, to prove that the simulation notices; in flow_sim none ever holds.
enum class Fault : std::uint8_t {
  done_apart,             // the done is written in a transaction of its own, after the move
  groups_apart,           // each group of a request moves in a transaction of its own
  guard_before_only,      // members are looked for before the transaction, not by the broker in it
  no_reread,              // the befores are not read again before the commit
  early_leader,           // decides before its engine record has come back
  arrival_order,          // a request that is read begins anew, whatever is known of it
  last_copy,              // the last copy of a request is carried out, not the accepted one
  same_producer,          // goes on with its producer after a transaction was disturbed
  no_fencing,             // nobody ends the epoch of the producer before
  decided_again,          // decides a request again before its transaction was read back
  unknown_is_aborted,     // takes a commit without an answer for one that did not happen
  read_uncommitted,       // reads the control topic without regard to transactions
  position_without_rows,  // the store's position survives a crash that its rows do not
};

inline constexpr std::array<std::pair<std::string_view, Fault>, 13> fault_names{{
    {"done-apart", Fault::done_apart},
    {"groups-apart", Fault::groups_apart},
    {"guard-before-only", Fault::guard_before_only},
    {"no-reread", Fault::no_reread},
    {"early-leader", Fault::early_leader},
    {"arrival-order", Fault::arrival_order},
    {"last-copy", Fault::last_copy},
    {"same-producer", Fault::same_producer},
    {"no-fencing", Fault::no_fencing},
    {"decided-again", Fault::decided_again},
    {"unknown-is-aborted", Fault::unknown_is_aborted},
    {"read-uncommitted", Fault::read_uncommitted},
    {"position-without-rows", Fault::position_without_rows},
}};

#ifdef FLOW_SIM_FAULTS
inline std::optional<Fault> chosen_fault;
inline bool is_faulty(Fault fault) { return chosen_fault == fault; }
#else
constexpr bool is_faulty(Fault /*fault*/) { return false; }
#endif

}  // namespace flow::sim
