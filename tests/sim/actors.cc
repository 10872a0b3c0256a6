#include "tests/sim/actors.h"

#include <algorithm>

#include "schemas/codec.h"
#include "tests/sim/world.h"
#include "tests/support/builders.h"

namespace flow::sim {

void Actors::later(Micros least, Micros most, std::function<void()> act) {
  world_.clock.after(world_.clock.between(least, most), [this, act = std::move(act)] {
    if (!ended_) {
      act();
    }
  });
}

void Actors::often(Micros least, Micros most, std::function<void()> act) {
  later(least, most, [this, least, most, act] {
    act();
    often(least, most, act);
  });
}

void Actors::begin() {
  const Plan& plan = world_.plan;
  plan_requests();
  if (plan.consumers) {
    often(500 * ms, 8 * seconds, [this] { consume(); });
  }
  if (plan.foreign_commits) {
    often(200 * ms, 4 * seconds,
          [this] { commit_from_outside(world_.clock.random().pick(geography::groups)); });
  }
  if (plan.compaction) {
    often(500 * ms, 6 * seconds, [this] {
      const auto end = world_.broker.topic().end_position();
      world_.broker.topic().compact(world_.clock.between(0, end), world_.clock.random().chance(60),
                                    world_.plan.delete_retention);
    });
  }
  if (plan.foreign_transactions) {
    often(1 * seconds, 8 * seconds, [this] { begin_foreign_transaction(); });
  }
  if (plan.bad_records) {
    often(300 * ms, 4 * seconds, [this] { append_rubbish(); });
  }
  if (plan.broker_away) {
    often(3 * seconds, 15 * seconds, [this] { take_broker_away(); });
  }
  if (plan.changing_topology) {
    often(1 * seconds, 6 * seconds, [this] {
      auto& now = world_.topology_now();
      now = geography::topology();
      if (world_.clock.random().chance(50)) {
        now.whole = false;
        now.problem = "the file cannot be read";
        now.pipelines.clear();
      }
    });
  }
  often(2 * seconds, 10 * seconds, [this] { cut_logs(); });
  break_engines();
}

void Actors::end() {
  ended_ = true;
  for (auto& [id, group] : world_.broker.groups().all()) {
    std::erase_if(group.members, [](const auto& entry) { return entry.second.holder == 0; });
  }
  for (const auto& [transaction, end] : std::map{foreign_}) {
    end();
  }
}

void Actors::append(const port::EncodedRecord& record) {
  if (!world_.broker.is_up) {
    later(500 * ms, 3 * seconds, [this, record] { append(record); });
    return;
  }
  const auto position = world_.broker.topic().append(record, 0);
  if (world_.tracing()) {
    world_.say("world", std::to_string(position) + " " + describe(record));
  }
  world_.checker.on_record(position, record, world_.clock.instant());
}

void Actors::append(const Record& record) {
  append(port::EncodedRecord{encode_key(key_of(record)), encode(record)});
}

void Actors::ambush(const GroupId& group) {
  auto& random = world_.clock.random();
  if (ended_ || !random.chance(world_.plan.ambush)) {
    return;
  }
  const Plan& plan = world_.plan;
  const auto soon = [&](std::function<void()> act) { later(0, 15 * ms, std::move(act)); };
  switch (random.below(5)) {
    case 0:
      if (plan.consumers) {
        soon([this, group] { come(group, world_.broker.groups().new_member_id("ambusher"), 40); });
      }
      break;
    case 1:
      if (plan.foreign_commits) {
        soon([this, group] { commit_from_outside(group); });
      }
      break;
    case 2:
      if (plan.repeats && !asked_.empty()) {
        auto at = asked_.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(random.below(asked_.size())));
        soon([this, request = at->second] { repeat(request); });
      }
      break;
    case 3:
      if (plan.moving_leadership) {
        soon([this] {
          if (const auto owner = world_.broker.owner()) {
            world_.say("world", "the session of e" + std::to_string(*owner) + " ends");
            world_.end_sessions(*owner);
          }
        });
      }
      break;
    case 4:
      if (plan.faults.crash != 0 || plan.faults.pause != 0) {
        soon([this] { strike(); });
      }
      break;
  }
}

// The engine that leads, or believes that it does, stops here.
void Actors::strike() {
  const auto owner = world_.broker.owner();
  for (auto& machine : world_.machines) {
    Process* process = machine.process;
    if (process == nullptr || process->number() != owner) {
      continue;
    }
    if (world_.plan.faults.crash != 0 && world_.may_crash() && world_.clock.random().chance(50)) {
      process->crash();
    } else if (world_.plan.faults.pause != 0 && world_.may_pause()) {
      process->pause(world_.clock.between(100 * ms, 20 * seconds));
    }
    return;
  }
}

void Actors::consume() {
  auto& random = world_.clock.random();
  const GroupId& group = random.pick(geography::groups);
  come(group, world_.broker.groups().new_member_id("consumer"), 40);
}

// Joins as soon as nobody holds the group.
void Actors::come(const GroupId& id, const std::string& member, int tries) {
  Group& group = world_.broker.groups()[id];
  if (group.is_held() || !world_.broker.is_up) {
    if (tries > 0) {
      later(100 * ms, 600 * ms, [this, id, member, tries] { come(id, member, tries - 1); });
    }
    return;
  }
  world_.say(member, "joins " + id.value());
  group.exists = true;
  group.members[member] = Member{member, 0};
  later(50 * ms, 2 * seconds,
        [this, id, member] { work(id, member, static_cast<int>(world_.clock.between(0, 6))); });
}

void Actors::work(const GroupId& id, const std::string& member, int times) {
  auto& groups = world_.broker.groups();
  auto& random = world_.clock.random();
  if (times == 0) {
    world_.say(member, "leaves " + id.value());
    groups[id].members.erase(member);
    return;
  }
  std::vector<TopicPartition> all;
  for (const auto& [at, bounds] : groups.topics()) {
    all.push_back(at);
  }
  const auto at = random.pick(all);
  const auto& bounds = groups.topics().at(at);
  groups.commit(id, member, at, {random.between(bounds.start, bounds.end), {}});
  later(50 * ms, 3 * seconds, [this, id, member, times] { work(id, member, times - 1); });
}

void Actors::commit_from_outside(const GroupId& id) {
  auto& groups = world_.broker.groups();
  auto& random = world_.clock.random();
  if (world_.plan.erased_offsets && random.chance(25)) {
    world_.say("world", "the offsets of " + id.value() + " are deleted");
    groups.erase_offsets(id);
    return;
  }
  for (const auto& [at, bounds] : groups.topics()) {
    if (random.chance(40) &&
        groups.commit(id, {}, at, {random.between(bounds.start, bounds.end), {}})) {
      world_.say("world", "a foreign commit of " + id.value());
    }
  }
}

void Actors::begin_foreign_transaction() {
  auto& topic = world_.broker.topic();
  auto& random = world_.clock.random();
  const int number = 100 + static_cast<int>(asked_.size());
  port::EncodedRecord record{"somebody's", std::nullopt};
  if (random.chance(50)) {
    const auto request = draw_request(number);
    record = {encode_key(key_of(request)), encode(request)};
    asked_.emplace(request.id, request);
  }
  const int transaction = world_.broker.begin_foreign();
  const auto position = topic.append(record, transaction);
  world_.say("world", "a foreign transaction opens at " + std::to_string(position));
  foreign_[transaction] = [this, transaction, record, position, commits = random.chance(70)] {
    end_foreign_transaction(transaction, record, position, commits);
  };
  later(100 * ms, 8 * seconds, [this, transaction] {
    const auto end = foreign_.at(transaction);
    end();
  });
}

void Actors::end_foreign_transaction(int transaction, const port::EncodedRecord& record,
                                     std::int64_t position, bool commits) {
  world_.say("world", std::string{"a foreign transaction "} + (commits ? "commits" : "aborts"));
  if (commits) {
    world_.checker.on_record(position, record, world_.clock.instant());
  }
  world_.broker.topic().end(transaction, commits);
  foreign_.erase(transaction);
}

void Actors::cut_logs() {
  for (auto& [at, bounds] : world_.broker.groups().topics()) {
    bounds.end += world_.clock.between(0, 5);
    if (world_.clock.random().chance(30)) {
      bounds.start += world_.clock.between(0, 3);
      bounds.starts.insert(bounds.start);
    }
  }
}

void Actors::break_engines() {
  const auto somebody = [this]() -> Machine& {
    return world_.machines[world_.clock.random().below(world_.machines.size())];
  };
  const Plan& plan = world_.plan;
  if (plan.restarts) {
    often(2 * seconds, 15 * seconds, [this, somebody] {
      if (auto* process = somebody().process; process != nullptr) {
        world_.clock.random().chance(50) && world_.may_crash() ? process->crash() : process->stop();
      }
    });
  }
  if (plan.moving_leadership) {
    often(1 * seconds, 10 * seconds, [this, somebody] {
      if (auto* process = somebody().process; process != nullptr) {
        world_.say(process->name(), "its session ends");
        world_.end_sessions(process->number());
      }
    });
  }
  if (plan.damaged_disks) {
    later(2 * seconds, 20 * seconds, [this, somebody] {
      world_.say("world", "a disk is damaged");
      somebody().disk.is_damaged = true;
    });
  }
  if (plan.full_disks) {
    often(2 * seconds, 10 * seconds, [somebody] {
      auto& disk = somebody().disk;
      disk.is_full = !disk.is_full;
    });
  }
}

void Actors::take_broker_away() {
  world_.say("world", "the broker goes away");
  world_.broker.is_up = false;
  later(200 * ms, 8 * seconds, [this] {
    world_.say("world", "the broker is back");
    world_.broker.is_up = true;
  });
}

}  // namespace flow::sim
