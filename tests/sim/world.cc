#include "tests/sim/world.h"

#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>

#include <algorithm>
#include <cstdio>

#include "schemas/codec.h"
#include "tests/sim/actors.h"

namespace flow::sim {
namespace {

// An engine's log lines, in the trace.
class TraceSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  TraceSink(World& world, std::string who) : world_(world), who_(std::move(who)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    world_.say(who_, "log: " + std::string{message.payload.data(), message.payload.size()});
  }
  void flush_() override {}

 private:
  World& world_;
  std::string who_;
};

Checker::Terms terms_of(const Plan& plan) {
  const Faults& faults = plan.faults;
  const bool slow = faults.slow + faults.pause + faults.cut_off + faults.lose != 0;
  return {plan.erased_offsets, plan.skew, !slow && plan.skew == Duration{0}};
}

constexpr Micros done_max = 120 * seconds;
constexpr Micros leader_max = 60 * seconds;
constexpr Micros verified_max = 60 * seconds;
constexpr Micros idle_span = 10 * seconds;
constexpr int idle_calls_max = 80;

}  // namespace

std::string describe(const port::CommitOutcome& outcome) {
  std::string text;
  switch (outcome.status) {
    case port::CommitStatus::committed:
      text = "committed";
      break;
    case port::CommitStatus::aborted:
      text = "aborted";
      break;
    case port::CommitStatus::unknown:
      text = "unknown";
      break;
    case port::CommitStatus::fenced:
      text = "fenced";
      break;
  }
  for (const auto& refusal : outcome.refusals) {
    text += "; " + refusal.detail;
  }
  if (outcome.error) {
    text += "; " + outcome.error->detail;
  }
  return text + (outcome.producer_spent ? "; spent" : "");
}

std::string describe(const port::EncodedRecord& record) {
  const auto key = decode_key(record.key);
  std::string text = key ? record.key : "key of " + std::to_string(record.key.size()) + " byte(s)";
  if (!record.value) {
    return text + " erased";
  }
  const auto decoded = key ? decode(*key, *record.value) : error(Errc::invalid, "no such kind");
  return text + " " +
         (decoded ? to_json(decoded.value()) : "unreadable: " + decoded.error().detail);
}

World::World(std::uint64_t seed, bool tracing)
    : clock(seed),
      plan(draw_plan(clock.random())),
      broker(clock),
      checker(broker, terms_of(plan), [this](const std::string& what) { violate(what); }),
      tracing_(tracing) {
  broker.topic().on_change = [this] {
    for (auto& process : processes_) {
      process->wake_reader();
    }
  };
  broker.on_commit = [this](const Transaction& transaction) {
    if (tracing_) {
      say("broker", "commits the transaction of e" + std::to_string(transaction.process));
      for (const auto& written : transaction.records) {
        say("broker", "  " + std::to_string(written.position) + " " + describe(written.record));
      }
    }
    checker.on_transaction(transaction, clock.instant());
    actors_->on_transaction(transaction);
  };
  broker.checks_guard = plan.checks_guard;
}

World::~World() { clock.end(); }

void World::say(const std::string& who, const std::string& what) {
  if (tracing_) {
    char time[32];
    std::snprintf(time, sizeof time, "%10.6f ", static_cast<double>(clock.now()) / 1e6);
    trace_ += time + who + ": " + what + "\n";
  }
}

engine::Settings World::engine_settings(int number) {
  engine::Settings settings;
  settings.engine_id = "engine-" + std::to_string(number);
  settings.host = "host";
  settings.version = "0.1.0";
  settings.verify_for = plan.verify_for;
  settings.checkpoint_every = plan.checkpoint_every;
  settings.bulk_from = plan.bulk_from;
  return settings;
}

std::shared_ptr<spdlog::logger> World::make_logger(const std::string& name) {
  if (!tracing_) {
    auto silent = std::make_shared<spdlog::logger>(name);
    silent->set_level(spdlog::level::off);
    return silent;
  }
  return std::make_shared<spdlog::logger>(name, std::make_shared<TraceSink>(*this, name));
}

void World::on_crash(Process& process) {
  ++crashes_;
  restart_later(process);
}

void World::on_ended(Process& process, const Result<void>& result) {
  // Only a disk that refuses ends an engine by itself.
  if (!result && !process.is_stopping() && !plan.full_disks) {
    violate(process.name() + " ended by itself: " + result.error().detail);
  }
  end_sessions(process.number());
  restart_later(process);
}

void World::on_observed(Process& process, const port::Observation& seen) {
  checker.on_observed(process.number(), seen.at, process.applied());
  for (const auto& view : seen.groups) {
    actors_->ambush(view.group);
  }
}

void World::on_told(Process& process, port::Role role) { checker.on_told(process.number(), role); }

void World::on_commit_asked(Process& process, const port::Transaction& transaction) {
  if (tracing_) {
    std::string groups;
    for (const auto& move : transaction.moves) {
      groups += " " + move.group.value();
    }
    say(process.name(), "begins a transaction of " + std::to_string(transaction.records.size()) +
                            " record(s)" + (groups.empty() ? "" : ", moving" + groups));
  }
  checker.on_commit_asked(process.number(), transaction, process.applied());
  for (const auto& move : transaction.moves) {
    actors_->ambush(move.group);
  }
}

void World::end_sessions(int process) {
  broker.drop(process);
  for (auto& [id, group] : broker.groups().all()) {
    std::erase_if(group.members, [&](const auto& entry) { return entry.second.holder == process; });
  }
}

void World::hold_back(const std::string& what, std::function<void()> request) {
  const auto number = ++ever_held_back_;
  held_back_.emplace(number, std::pair{what, std::move(request)});
  clock.after(clock.between(1 * seconds, 20 * seconds), [this, number] { deliver_late(number); });
}

void World::may_deliver_late() {
  if (!held_back_.empty() && clock.random().chance(20)) {
    deliver_late(held_back_.begin()->first);
  }
}

void World::deliver_late(std::uint64_t number) {
  const auto found = held_back_.find(number);
  if (found != held_back_.end()) {
    const auto late = std::move(found->second);
    held_back_.erase(found);
    say("world", late.first + " arrives late");
    late.second();
  }
}

// What is on the disk when the next process comes: what RocksDB had flushed by then, or an old
// copy, or nothing.
void World::restart_later(Process& process) {
  for (auto& machine : machines) {
    if (machine.process != &process) {
      continue;
    }
    machine.process = nullptr;
    auto& disk = machine.disk;
    disk.lose(clock.random().below(disk.unflushed() + 1));
    if (plan.restarts && !quiet_ && disk.copies() > 0 && clock.random().chance(20)) {
      say("world", "an old copy of the store comes back");
      disk.restore_copy(clock.random().below(disk.copies()));
    } else if (plan.restarts && !quiet_ && clock.random().chance(20)) {
      say("world", "the store is deleted");
      disk.clear();
    }
    if (restarts_) {
      const auto number = static_cast<std::size_t>(&machine - machines.data());
      clock.after(clock.between(100 * ms, quiet_ ? 1 * seconds : 6 * seconds),
                  [this, number] { start_engine(number); });
    }
  }
}

void World::start_engine(std::size_t machine) {
  if (machines[machine].process != nullptr || !restarts_) {
    return;
  }
  processes_.push_back(std::make_unique<Process>(*this, static_cast<int>(processes_.size()) + 1,
                                                 machines[machine].disk));
  machines[machine].process = processes_.back().get();
  machines[machine].process->start();
}

void World::furnish() {
  auto& groups = broker.groups();
  auto& random = clock.random();
  const auto add_topic = [&](const char* name, int partitions, std::int64_t end) {
    for (int partition = 0; partition < partitions; ++partition) {
      auto& bounds = groups.topics()[{TopicName{name}, partition}];
      bounds.start = random.between(0, end / 4);
      bounds.end = end;
      bounds.starts.insert(bounds.start);
    }
  };
  add_topic("orders", 3, 100);
  add_topic("stock", 1, 50);
  for (const auto& id : geography::groups) {
    groups[id].exists = true;
    for (const auto& [at, bounds] : groups.topics()) {
      if (random.chance(80)) {
        groups.commit(id, {}, at, {random.between(bounds.start, bounds.end), "m"});
      }
    }
  }
  groups[geography::share_group].exists = true;
  groups[geography::share_group].foreign_kind = true;
  groups[geography::secret_group].exists = true;
  groups[geography::secret_group].forbidden = true;
}

void World::become_quiet() {
  say("world", "QUIET: no more faults, no more consumers");
  quiet_ = true;
  faults_ = {};
  broker.is_up = true;
  topology_.now = geography::topology();
  actors_->end();
  for (std::size_t machine = 0; machine < machines.size(); ++machine) {
    machines[machine].disk.is_full = false;
    machines[machine].disk.is_damaged = false;
    if (machines[machine].process != nullptr) {
      machines[machine].process->recover();
    } else {
      clock.after(clock.between(0, 2 * seconds), [this, machine] { start_engine(machine); });
    }
  }
}

// Returns how long it took until nothing was left; a violation where it takes longer than `most`.
Micros World::await(Micros most, const std::string& since,
                    const std::function<std::vector<std::string>()>& left) {
  const Micros began = clock.now();
  while (!clock.is_stopped() && !left().empty()) {
    if (clock.now() - began >= most) {
      violate(std::to_string(most / seconds) + " s after " + since + ": " + left().front());
      break;
    }
    clock.run_until(clock.now() + 250 * ms);
  }
  return clock.now() - began;
}

int World::total_calls() const {
  int calls = 0;
  for (const auto& process : processes_) {
    calls += process->calls();
  }
  return calls;
}

std::vector<std::string> World::leaderless() const {
  const bool led = std::any_of(machines.begin(), machines.end(), [](const Machine& machine) {
    return machine.process != nullptr && machine.process->engine().context().term.has_value();
  });
  return led ? std::vector<std::string>{} : std::vector<std::string>{"no engine leads"};
}

void World::check_idleness() {
  clock.run_until(clock.now() + 3 * seconds);
  const int before = total_calls();
  clock.run_until(clock.now() + idle_span);
  const int calls = total_calls() - before;
  const int most = idle_calls_max * static_cast<int>(machines.size());
  verdict_.idle_calls = calls / static_cast<int>(machines.size());
  if (!clock.is_stopped() && calls > most) {
    violate("idle engines made " + std::to_string(calls) + " calls of ports in 10 s");
  }
}

// Whatever is lost, the log alone is enough to do nothing twice.
void World::replay_into_an_empty_store() {
  say("world", "REPLAY: compacted, and into an empty store");
  restarts_ = false;
  for (auto& machine : machines) {
    if (machine.process != nullptr) {
      machine.process->crash();
    }
    machine.disk.clear();
  }
  for (const auto& process : processes_) {
    end_sessions(process->number());
  }
  broker.topic().compact(broker.topic().end_position(), true, plan.delete_retention);
  restarts_ = true;
  start_engine(0);
  await(leader_max, "a start with an empty store", [this] { return leaderless(); });
  clock.run_until(clock.now() + 10 * seconds);
}

Verdict World::run() {
  actors_ = std::make_unique<Actors>(*this);
  machines.resize(static_cast<std::size_t>(plan.machines));
  faults_ = plan.faults;
  furnish();
  actors_->begin();
  for (std::size_t machine = 0; machine < machines.size(); ++machine) {
    clock.after(clock.between(0, 2 * seconds), [this, machine] { start_engine(machine); });
  }
  clock.run_until(plan.active);
  become_quiet();
  verdict_.done_after = await(done_max, "the last fault", [this] { return checker.not_done(); });
  verdict_.verified_after =
      await(verified_max, "the last done", [this] { return checker.not_verified(); });
  await(leader_max, "the last fault", [this] { return leaderless(); });
  check_idleness();
  if (!clock.is_stopped()) {
    replay_into_an_empty_store();
  }
  verdict_.violation = clock.is_stopped() ? clock.why() : std::string{};
  say("world", verdict_.violation.empty() ? "everything held" : "VIOLATED: " + verdict_.violation);
  verdict_.trace = std::move(trace_);
  verdict_.dones = checker.dones();
  verdict_.moves = checker.moves();
  verdict_.lasted = clock.now();
  verdict_.calls = total_calls();
  for (const auto& process : processes_) {
    verdict_.busiest_second = std::max(verdict_.busiest_second, process->busiest_second());
  }
  return verdict_;
}

Verdict run_seed(std::uint64_t seed, bool tracing) {
  World world{seed, tracing};
  auto verdict = world.run();
  verdict.seed = seed;
  return verdict;
}

}  // namespace flow::sim
