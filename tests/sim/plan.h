#pragma once

#include "engine/ports/topology.h"
#include "schemas/records.h"
#include "tests/sim/clockwork.h"

namespace flow::sim {

// How often, in a thousand, a step or a request meets with something.
struct Faults {
  unsigned crash = 0;
  unsigned pause = 0;
  unsigned cut_off = 0;
  unsigned slow = 0;
  unsigned lose = 0;    // request or answer lost, or late
  unsigned refuse = 0;  // the broker says: not now
  unsigned spend = 0;   // the producer can be used no more
};

// What one seed decides about its world before it begins. Each kind of trouble is in some worlds
// and not in others, so that some failures are found in worlds where little else happens.
struct Plan {
  int machines = 1;
  int requests = 1;
  Micros active = 10 * seconds;
  Faults faults;
  bool checks_guard = true;
  bool consumers = false;
  bool foreign_commits = false;
  bool erased_offsets = false;
  bool compaction = false;
  bool foreign_transactions = false;
  bool moving_leadership = false;
  bool broker_away = false;
  bool restarts = false;  // SIGTERM, and stores that are stale or empty
  bool full_disks = false;
  bool bad_records = false;
  bool repeats = false;
  bool meddling = false;  // tombstones and rubbish on the keys of finished requests
  bool odd_requests = false;
  bool changing_topology = false;
  unsigned ambush = 0;  // percent: how often something happens just when an engine looks or moves
  bool damaged_disks = false;
  Duration delete_retention{40'000};
  Duration skew;  // engines' clocks are off by up to this
  Duration verify_for{30'000};
  Duration checkpoint_every{60'000};
  std::int64_t bulk_from = 20'000;
};

Plan draw_plan(test::Random& random);

// The part of the world that is the same in all of them.
namespace geography {

inline const std::vector<GroupId> groups{GroupId{"g0"}, GroupId{"g1"}, GroupId{"g2"},
                                         GroupId{"cart.router.in"}, GroupId{"cart.sink.in"}};
inline const GroupId new_group{"new"};        // does not exist
inline const GroupId share_group{"share"};    // not a consumer group
inline const GroupId secret_group{"secret"};  // not authorised

port::Topology topology();

// Groups that a request means, by its names alone; empty where they stand for nothing.
std::vector<GroupId> groups_of(const Request& request);

// Whether anything about it, or about a group that it means, may refuse it or fail one of its
// groups for good. `erased`: groups may have lost their offsets, and with them their existence.
bool may_fail(const Request& request, bool erased);

}  // namespace geography

}  // namespace flow::sim
