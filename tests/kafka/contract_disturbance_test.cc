#include <catch2/catch.hpp>

#include "tests/kafka/support/engine.h"
#include "tests/kafka/support/fail_hook.h"
#include "tests/kafka/support/proxy.h"

namespace flow::kafka::testing {
namespace {

constexpr int partitions = 3;

std::map<int, world::Offset> everywhere(std::int64_t offset) {
  return {{0, {offset, ""}}, {1, {offset, ""}}, {2, {offset, ""}}};
}

// An engine that reaches the broker only through a proxy; the group stands at 7 everywhere.
struct Scene {
  std::string control = world::fresh("control");
  std::string topic = world::fresh("topic");
  std::string group = world::fresh("group");
  world::Proxy proxy;
  std::unique_ptr<Engine> engine;

  Scene() {
    world::create_topic(control, 1, {{"cleanup.policy", "compact"}});
    world::create_topic(topic, partitions);
    world::fill(topic, partitions, 10);
    world::commit(group, topic, everywhere(7));
    ClientConfig config;
    config.settings["bootstrap.servers"] = proxy.address();
    engine = std::make_unique<Engine>(control, "engine-1", config);
    succeed(engine->await((*engine)->log().open_producer()));
  }
  ~Scene() { world::on_fail_point({}); }

  port::Transaction move(std::int64_t offset, const std::string& key) const {
    port::Transaction transaction;
    transaction.records = {{key, "value"}};
    transaction.moves = {move_all(group, topic, partitions, offset)};
    return transaction;
  }

  port::CommitOutcome commit(const port::Transaction& transaction) {
    return engine->await((*engine)->log().commit(transaction));
  }

  std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (const auto& line : world::read_all(control)) {
      all.push_back(line.key);
    }
    return all;
  }

  std::map<int, world::Offset> offsets() const {
    return world::committed(group, topic, partitions);
  }
};

}  // namespace

TEST_CASE("an undisturbed transaction through the proxy keeps its producer", "[contract]") {
  Scene scene;
  for (int i = 0; i < 20; ++i) {
    const auto outcome = scene.commit(scene.move(i % 10, "key"));
    REQUIRE(outcome.status == port::CommitStatus::committed);
    REQUIRE_FALSE(outcome.producer_spent);
  }
}

TEST_CASE("a connection that is lost at any request spends the producer", "[contract]") {
  const auto [key, name] = GENERATE(table<std::int16_t, std::string>({
      {world::add_partitions_to_txn, "AddPartitionsToTxn"},
      {world::produce, "Produce"},
      {world::add_offsets_to_txn, "AddOffsetsToTxn"},
      {world::txn_offset_commit, "TxnOffsetCommit"},
      {world::end_txn, "EndTxn"},
  }));
  const auto strike = GENERATE(world::Proxy::Strike::cut_before, world::Proxy::Strike::cut_after);
  CAPTURE(name, static_cast<int>(strike));
  Scene scene;
  scene.proxy.arm(key, strike);
  const auto outcome = scene.commit(scene.move(2, "first"));
  CHECK(scene.proxy.has_struck());
  CHECK(outcome.producer_spent);
  CHECK(outcome.status != port::CommitStatus::fenced);
  // Without a new producer nothing more is done, and with it the outcome is what was said.
  const auto refused = scene.commit(scene.move(3, "second"));
  CHECK(refused.status == port::CommitStatus::aborted);
  CHECK(refused.producer_spent);
  succeed(scene.engine->await((*scene.engine)->log().open_producer()));
  const bool moved = scene.offsets() == everywhere(2);
  CHECK((moved || scene.offsets() == everywhere(7)));
  CHECK(scene.keys() == (moved ? std::vector<std::string>{"first"} : std::vector<std::string>{}));
  if (outcome.status == port::CommitStatus::committed) {
    CHECK(moved);
  }
  if (outcome.status == port::CommitStatus::aborted) {
    CHECK_FALSE(moved);
  }
  const auto last = scene.commit(scene.move(4, "last"));
  CHECK(last.status == port::CommitStatus::committed);
  CHECK_FALSE(last.producer_spent);
  CHECK(scene.offsets() == everywhere(4));
}

TEST_CASE("a request that is held back acts on no later transaction", "[contract]") {
  const auto [key, name] = GENERATE(table<std::int16_t, std::string>({
      {world::end_txn, "EndTxn"},
      {world::txn_offset_commit, "TxnOffsetCommit"},
      {world::add_offsets_to_txn, "AddOffsetsToTxn"},
      {world::produce, "Produce"},
  }));
  CAPTURE(name);
  Scene scene;
  scene.proxy.arm(key, world::Proxy::Strike::cut_before);
  const auto first = scene.commit(scene.move(2, "first"));
  REQUIRE(scene.proxy.has_struck());
  REQUIRE(first.producer_spent);
  succeed(scene.engine->await((*scene.engine)->log().open_producer()));
  const bool first_moved = scene.offsets() == everywhere(2);
  const auto later = scene.move(5, "later");

  // While the later transaction has everything in it but its end, the held request arrives.
  bool seen_early = false;
  world::on_fail_point([&](std::string_view point) {
    if (point == "before-commit") {
      scene.proxy.deliver_kept();
      const auto lines = world::read_all(scene.control);
      seen_early = !lines.empty() && lines.back().key == "later";
    }
  });
  const auto second = scene.commit(later);
  world::on_fail_point({});
  CHECK_FALSE(seen_early);
  REQUIRE(second.status == port::CommitStatus::committed);
  CHECK(scene.offsets() == everywhere(5));
  CHECK(scene.keys() == (first_moved ? std::vector<std::string>{"first", "later"}
                                     : std::vector<std::string>{"later"}));
}

TEST_CASE("a broker that answers an end no more leaves the outcome unknown, in time",
          "[contract]") {
  Scene scene;
  scene.proxy.arm(world::end_txn, world::Proxy::Strike::hold);
  const auto began = std::chrono::steady_clock::now();
  const auto outcome = scene.commit(scene.move(2, "first"));
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds{9});
  CHECK(outcome.status == port::CommitStatus::unknown);
  CHECK(outcome.producer_spent);
  succeed(scene.engine->await((*scene.engine)->log().open_producer()));
  CHECK(scene.offsets() == everywhere(7));
  CHECK(scene.keys().empty());
}

TEST_CASE("a look whose coordinator does not answer ends in time, and later ones go on",
          "[contract]") {
  const auto [key, name] = GENERATE(table<std::int16_t, std::string>({
      {world::find_coordinator, "FindCoordinator"},
      {world::offset_fetch, "OffsetFetch"},
      {world::describe_groups, "DescribeGroups"},
  }));
  const auto strike = GENERATE(world::Proxy::Strike::hold, world::Proxy::Strike::cut_before);
  CAPTURE(name, static_cast<int>(strike));
  const auto topic = world::fresh("topic");
  world::create_topic(topic, partitions);
  world::Proxy proxy;
  ClientConfig config;
  config.settings["bootstrap.servers"] = proxy.address();
  config.settings["socket.timeout.ms"] = "3000";
  auto admin = Admin::make(config, "test");
  REQUIRE(admin);
  proxy.arm(key, strike);
  const auto began = std::chrono::steady_clock::now();
  const auto first = admin.value()->observe(look_at("group", topic), Duration{1'500});
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::milliseconds{2'500});
  CHECK(proxy.has_struck());
  if (first && strike == world::Proxy::Strike::hold) {
    CHECK(first.value().groups[0].problem);
  }
  // A client that is not replaced has to come through it as well: what hangs in it is let go by
  // then.
  const auto later =
      admin.value()->observe(look_at(world::fresh("group"), topic), Duration{10'000});
  REQUIRE(later);
  CHECK_FALSE(later.value().groups[0].problem);
  CHECK(admin.value()->observe(look_at("group", topic), Duration{10'000}));
}

TEST_CASE("an engine replaces a client in which a lookup hangs", "[contract]") {
  const auto topic = world::fresh("topic");
  world::create_topic(topic, partitions);
  Scene scene;
  scene.proxy.arm(world::describe_groups, world::Proxy::Strike::hold);
  const auto group = world::fresh("group");
  const auto first = scene.engine->await((*scene.engine)->groups().observe(look_at(group, topic)));
  CHECK(scene.proxy.has_struck());
  CHECK((!first || first.value().groups[0].problem));
  const auto began = std::chrono::steady_clock::now();
  const auto second = scene.engine->await((*scene.engine)->groups().observe(look_at(group, topic)));
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds{1});
  CHECK_FALSE(value_of(second).groups[0].problem);
}

TEST_CASE("a foreign commit right after the offsets were sent is not overwritten", "[contract]") {
  Scene scene;
  world::on_fail_point([&](std::string_view point) {
    if (point == "after-offsets") {
      world::commit(scene.group, scene.topic, {{1, {9, ""}}});
    }
  });
  const auto outcome = scene.commit(scene.move(2, "first"));
  world::on_fail_point({});
  CHECK(outcome.status == port::CommitStatus::aborted);
  REQUIRE(outcome.refusals.size() == 1);
  CHECK(outcome.refusals[0].kind == port::RefusalKind::changed);
  auto expected = everywhere(7);
  expected[1] = {9, ""};
  CHECK(scene.offsets() == expected);
  CHECK(scene.keys().empty());
}

}  // namespace flow::kafka::testing
