#include "tests/sim/plan.h"

#include <algorithm>

namespace flow::sim {

Plan draw_plan(test::Random& random) {
  Plan plan;
  const auto often = [&](unsigned percent, unsigned most) {
    return random.chance(percent) ? static_cast<unsigned>(random.between(1, most)) : 0u;
  };
  plan.machines = random.chance(40) ? 2 : 1;
  plan.requests = static_cast<int>(random.between(1, 6));
  plan.active = random.between(3 * seconds, 30 * seconds);
  plan.faults.crash = often(40, 8);
  plan.faults.pause = often(30, 5);
  plan.faults.cut_off = often(20, 4);
  plan.faults.slow = often(30, 30);
  plan.faults.lose = often(40, 60);
  plan.faults.refuse = often(25, 80);
  plan.faults.spend = often(25, 80);
  plan.checks_guard = !random.chance(3);
  plan.consumers = random.chance(60);
  plan.foreign_commits = random.chance(50);
  plan.erased_offsets = random.chance(15);
  plan.compaction = random.chance(50);
  plan.foreign_transactions = random.chance(25);
  plan.moving_leadership = random.chance(25);
  plan.broker_away = random.chance(15);
  plan.restarts = random.chance(40);
  plan.full_disks = random.chance(8);
  plan.bad_records = random.chance(30);
  plan.repeats = random.chance(50);
  plan.meddling = random.chance(25);
  plan.odd_requests = random.chance(35);
  plan.changing_topology = random.chance(15);
  plan.ambush = often(50, 40);
  plan.damaged_disks = random.chance(8);
  plan.delete_retention = Duration{random.chance(30) ? 5'000 : 40'000};
  const std::vector<Duration> verify_for{Duration{2'000}, Duration{5'000}, Duration{30'000}};
  plan.verify_for = random.pick(verify_for);
  const std::vector<Duration> checkpoints{Duration{500}, Duration{5'000}, Duration{60'000}};
  plan.checkpoint_every = random.pick(checkpoints);
  plan.skew = Duration{random.chance(20) ? 1'500 : 0};
  plan.bulk_from = random.chance(30) ? 5 : 20'000;
  return plan;
}

namespace geography {
namespace {

const TopicName orders{"orders"};

port::Inlet inlet(const char* name) { return {name, orders, std::nullopt, {}, {}}; }

}  // namespace

port::Topology topology() {
  port::Topology all;
  all.whole = true;
  all.source = "simulation";
  all.pipelines = {
      {"shop", "cart", {{"router", {inlet("in")}}, {"sink", {inlet("in")}}, {"source", {}}}}};
  return all;
}

std::vector<GroupId> groups_of(const Request& request) {
  if (request.pipeline.empty()) {
    return request.groups;
  }
  std::vector<GroupId> found;
  if (request.pipeline != "cart" || !request.groups.empty()) {
    return found;
  }
  for (const std::string streamlet : {"router", "sink"}) {
    const auto& named = request.streamlets;
    if (named.empty() || std::find(named.begin(), named.end(), streamlet) != named.end()) {
      found.emplace_back("cart." + streamlet + ".in");
    }
  }
  return found;
}

bool may_fail(const Request& request, bool erased) {
  const auto targets = groups_of(request);
  const bool ordinary = std::all_of(targets.begin(), targets.end(), [](const GroupId& group) {
    return std::find(groups.begin(), groups.end(), group) != groups.end();
  });
  const bool known_topics =
      std::all_of(request.topics.begin(), request.topics.end(), [](const TopicSelection& topic) {
        return topic.name == orders || topic.name == TopicName{"stock"};
      });
  const bool names_what_is_there =
      request.pipeline.empty()
          ? !request.topics.empty() && request.streamlets.empty()
          : request.topics.empty() && request.groups.empty() &&
                (request.streamlets.empty() || targets.size() == request.streamlets.size());
  // A pipeline's groups need not exist.
  const bool may_be_missing = erased && request.pipeline.empty() && !request.options.create_group;
  return targets.empty() || !ordinary || !known_topics || !names_what_is_there || may_be_missing;
}

}  // namespace geography

}  // namespace flow::sim
