#pragma once

#include <spdlog/logger.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/runtime/settings.h"
#include "tests/sim/broker.h"
#include "tests/sim/checker.h"
#include "tests/sim/clockwork.h"
#include "tests/sim/disk.h"
#include "tests/sim/plan.h"
#include "tests/sim/process.h"

// The deterministic simulation: the real engine, fake ports, virtual time, one seed.
namespace flow::sim {

// What one run of one seed came to.
struct Verdict {
  std::uint64_t seed = 0;
  std::string violation;  // empty: everything held
  std::string trace;      // where asked for
  int dones = 0;
  int moves = 0;
  Micros lasted = 0;
  int calls = 0;
  Micros done_after = 0;      // from the last fault to the last done
  Micros verified_after = 0;  // from then to the last verified record
  int idle_calls = 0;         // in 10 s of one engine
  int busiest_second = 0;     // calls in it
};

// Takes a seed; runs its world to the end. `tracing`: tell every step in the verdict's trace.
Verdict run_seed(std::uint64_t seed, bool tracing);

class Actors;

// A machine that an engine runs on: its disk stays when the process goes.
struct Machine {
  Disk disk;
  Process* process = nullptr;  // nothing while none runs
};

// One world: a cluster, machines with engines, and everybody else who uses the cluster.
class World {
 public:
  World(std::uint64_t seed, bool tracing);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Verdict run();

  Clockwork clock;
  Plan plan;
  Broker broker;
  Checker checker;
  std::vector<Machine> machines;

  // True `in_thousand` times in a thousand.
  bool meets(unsigned in_thousand) {
    return in_thousand != 0 && clock.random().below(1'000) < in_thousand;
  }
  const Faults& faults() const { return faults_; }
  bool is_quiet() const { return quiet_; }
  bool may_crash() const { return !quiet_ && crashes_ < 6; }
  bool may_pause() const { return !quiet_ && pauses_ < 4; }

  bool tracing() const { return tracing_; }
  void say(const std::string& who, const std::string& what);
  void violate(const std::string& what) { clock.stop(what); }

  engine::Settings engine_settings(int number);
  port::TopologySource& topology() { return topology_; }
  port::Topology& topology_now() { return topology_.now; }
  std::shared_ptr<spdlog::logger> make_logger(const std::string& name);

  // Told by processes.
  void on_crash(Process& process);
  void on_pause() { ++pauses_; }
  void on_ended(Process& process, const Result<void>& result);
  void on_observed(Process& process, const port::Observation& seen);
  void on_told(Process& process, port::Role role);
  void on_commit_asked(Process& process, const port::Transaction& transaction);
  // A request is on its way for longer than its sender waits. It arrives after a while, or just
  // before a later request of a transaction does.
  void hold_back(const std::string& what, std::function<void()> request);
  void may_deliver_late();
  // The broker has not heard of this process for too long.
  void end_sessions(int process);

 private:
  class Topology : public port::TopologySource {
   public:
    const port::Topology& current() override { return now; }
    port::Topology now = geography::topology();
  };

  void furnish();
  void start_engine(std::size_t machine);
  void restart_later(Process& process);
  void become_quiet();
  Micros await(Micros most, const std::string& since,
               const std::function<std::vector<std::string>()>& left);
  std::vector<std::string> leaderless() const;
  void check_idleness();
  void replay_into_an_empty_store();
  int total_calls() const;
  void deliver_late(std::uint64_t number);

  bool tracing_;
  std::string trace_;
  Faults faults_;
  Topology topology_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::unique_ptr<Actors> actors_;
  Verdict verdict_;
  std::map<std::uint64_t, std::pair<std::string, std::function<void()>>> held_back_;
  std::uint64_t ever_held_back_ = 0;
  bool quiet_ = false;
  bool restarts_ = true;
  int crashes_ = 0;
  int pauses_ = 0;
};

// For the trace.
std::string describe(const port::CommitOutcome& outcome);
std::string describe(const port::EncodedRecord& record);

}  // namespace flow::sim
