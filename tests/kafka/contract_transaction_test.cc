#include <catch2/catch.hpp>

#include "tests/kafka/support/engine.h"

namespace flow::kafka::testing {
namespace {

constexpr int partitions = 3;

std::map<int, world::Offset> everywhere(std::int64_t offset, const std::string& metadata) {
  return {{0, {offset, metadata}}, {1, {offset, metadata}}, {2, {offset, metadata}}};
}

// A control topic, a topic with ten records a partition, and a group that stands at 7 everywhere.
struct Scene {
  std::string control = world::fresh("control");
  std::string topic = world::fresh("topic");
  std::string group = world::fresh("group");
  std::unique_ptr<Engine> engine;

  Scene() {
    world::create_topic(control, 1, {{"cleanup.policy", "compact"}});
    world::create_topic(topic, partitions);
    world::fill(topic, partitions, 10);
    world::commit(group, topic, everywhere(7, "m"));
    engine = std::make_unique<Engine>(control);
    succeed(engine->await((*engine)->log().open_producer()));
  }

  port::CommitOutcome commit(port::Transaction transaction) {
    return engine->await((*engine)->log().commit(std::move(transaction)));
  }

  std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (const auto& line : world::read_all(control)) {
      all.push_back(line.key);
    }
    return all;
  }
};

port::Transaction reset(const Scene& scene, std::int64_t offset) {
  port::Transaction transaction;
  transaction.records = {{"result", "value"}, {"done", "value"}};
  transaction.moves = {move_all(scene.group, scene.topic, partitions, offset, "new")};
  return transaction;
}

}  // namespace

TEST_CASE("records and offsets are committed together", "[contract]") {
  Scene scene;
  const auto outcome = scene.commit(reset(scene, 2));
  REQUIRE(outcome.status == port::CommitStatus::committed);
  CHECK_FALSE(outcome.producer_spent);
  CHECK(world::committed(scene.group, scene.topic, partitions) == everywhere(2, "new"));
  const auto lines = world::read_all(scene.control);
  REQUIRE(lines.size() == 2);
  CHECK(outcome.positions ==
        std::vector<LogPosition>{LogPosition{lines[0].offset}, LogPosition{lines[1].offset}});
}

TEST_CASE("a tombstone is written as one", "[contract]") {
  Scene scene;
  port::Transaction transaction;
  transaction.records = {{"key", "value"}, {"gone", std::nullopt}};
  REQUIRE(scene.commit(transaction).status == port::CommitStatus::committed);
  succeed(scene.engine->await((*scene.engine)->log().seek(LogPosition{0})));
  const auto batch = scene.engine->await((*scene.engine)->log().read());
  REQUIRE(value_of(batch).records.size() == 2);
  CHECK(value_of(batch).records[0].value == "value");
  CHECK_FALSE(value_of(batch).records[1].value.has_value());
}

TEST_CASE("a live member refuses, nothing happens, and the producer goes on", "[contract]") {
  Scene scene;
  {
    const world::LiveMember member{scene.group, scene.topic};
    member.await_assignment();
    const auto outcome = scene.commit(reset(scene, 2));
    CHECK(outcome.status == port::CommitStatus::aborted);
    CHECK_FALSE(outcome.producer_spent);
    CHECK_FALSE(outcome.error.has_value());
    REQUIRE(outcome.refusals.size() == 1);
    CHECK(outcome.refusals[0].group == GroupId{scene.group});
    CHECK(outcome.refusals[0].kind == port::RefusalKind::has_member);
    CHECK(world::committed(scene.group, scene.topic, partitions) == everywhere(7, "m"));
    CHECK(scene.keys().empty());
  }
  const auto outcome = scene.commit(reset(scene, 2));
  CHECK(outcome.status == port::CommitStatus::committed);
  CHECK(world::committed(scene.group, scene.topic, partitions) == everywhere(2, "new"));
}

TEST_CASE("one of two groups that refuses keeps both where they are", "[contract]") {
  Scene scene;
  const auto other = world::fresh("group");
  world::commit(other, scene.topic, everywhere(5, ""));
  const world::LiveMember member{other, scene.topic};
  member.await_assignment();
  auto transaction = reset(scene, 2);
  transaction.moves.push_back(move_all(other, scene.topic, partitions, 2));
  const auto outcome = scene.commit(transaction);
  CHECK(outcome.status == port::CommitStatus::aborted);
  REQUIRE(outcome.refusals.size() == 1);
  CHECK(outcome.refusals[0].group == GroupId{other});
  CHECK(world::committed(scene.group, scene.topic, partitions) == everywhere(7, "m"));
  CHECK(world::committed(other, scene.topic, partitions) == everywhere(5, ""));
}

TEST_CASE("a foreign commit after the before is never overwritten", "[contract]") {
  Scene scene;
  auto transaction = reset(scene, 2);
  const auto [offset, metadata, named] = GENERATE(table<std::int64_t, std::string, std::string>({
      {9, "m", "had offset 7 (metadata 'm'), now offset 9 (metadata 'm')"},
      {7, "other", "had offset 7 (metadata 'm'), now offset 7 (metadata 'other')"},
  }));
  world::commit(scene.group, scene.topic, {{1, {offset, metadata}}});
  const auto outcome = scene.commit(transaction);
  CHECK(outcome.status == port::CommitStatus::aborted);
  CHECK_FALSE(outcome.producer_spent);
  REQUIRE(outcome.refusals.size() == 1);
  CHECK(outcome.refusals[0].kind == port::RefusalKind::changed);
  CHECK_THAT(outcome.refusals[0].detail, Catch::Contains(named));
  CHECK_THAT(outcome.refusals[0].detail, Catch::Contains("partition 1"));
  CHECK(scene.keys().empty());
  auto expected = everywhere(7, "m");
  expected[1] = {offset, metadata};
  CHECK(world::committed(scene.group, scene.topic, partitions) == expected);
}

TEST_CASE("a partition that is not moved counts as well", "[contract]") {
  Scene scene;
  auto transaction = reset(scene, 2);
  transaction.moves[0].commits.pop_back();  // partition 2 stays
  world::commit(scene.group, scene.topic, {{2, {9, ""}}});
  CHECK(scene.commit(transaction).status == port::CommitStatus::aborted);
}

TEST_CASE("a negative offset is refused before the transaction opens", "[contract]") {
  Scene scene;
  auto transaction = reset(scene, 2);
  transaction.moves[0].commits[1].offset = -2;
  const auto outcome = scene.commit(transaction);
  CHECK(outcome.status == port::CommitStatus::aborted);
  CHECK_FALSE(outcome.producer_spent);
  REQUIRE(outcome.error);
  CHECK(outcome.error->errc == Errc::invalid);
  CHECK_THAT(outcome.error->detail, Catch::Contains("offset -2"));
  CHECK(world::committed(scene.group, scene.topic, partitions) == everywhere(7, "m"));
  CHECK(scene.commit(reset(scene, 2)).status == port::CommitStatus::committed);
}

TEST_CASE("a new group is made by its first offsets", "[contract]") {
  Scene scene;
  const auto fresh = world::fresh("group");
  port::Transaction transaction;
  transaction.moves = {move_all(fresh, scene.topic, partitions, 3)};
  CHECK(scene.commit(transaction).status == port::CommitStatus::committed);
  CHECK(world::committed(fresh, scene.topic, partitions) == everywhere(3, ""));
}

TEST_CASE("another engine's producer fences this one, and nothing of it happens", "[contract]") {
  Scene scene;
  Engine other{scene.control, "engine-2"};
  succeed(other.await(other->log().open_producer()));
  const auto outcome = scene.commit(reset(scene, 2));
  CHECK(outcome.status == port::CommitStatus::fenced);
  CHECK(outcome.producer_spent);
  CHECK(world::committed(scene.group, scene.topic, partitions) == everywhere(7, "m"));
  CHECK(scene.keys().empty());
  // Opened again, it takes over in turn.
  succeed(scene.engine->await((*scene.engine)->log().open_producer()));
  CHECK(scene.commit(reset(scene, 2)).status == port::CommitStatus::committed);
}

TEST_CASE("without a producer nothing is committed", "[contract]") {
  const auto control = world::fresh("control");
  world::create_topic(control, 1, {{"cleanup.policy", "compact"}});
  Engine engine{control};
  port::Transaction transaction;
  transaction.records = {{"key", "value"}};
  const auto outcome = engine.await(engine->log().commit(transaction));
  CHECK(outcome.status == port::CommitStatus::aborted);
  CHECK(outcome.producer_spent);
  CHECK(world::read_all(control).empty());
}

TEST_CASE("a record that is too large aborts, and the next producer goes on", "[contract]") {
  Scene scene;
  auto transaction = reset(scene, 2);
  transaction.records.push_back({"large", std::string(2'000'000, 'x')});
  const auto outcome = scene.commit(transaction);
  CHECK(outcome.status == port::CommitStatus::aborted);
  REQUIRE(outcome.error);
  CHECK(outcome.error->errc == Errc::refused);
  CHECK(scene.keys().empty());
  CHECK(world::committed(scene.group, scene.topic, partitions) == everywhere(7, "m"));
  succeed(scene.engine->await((*scene.engine)->log().open_producer()));
  CHECK(scene.commit(reset(scene, 2)).status == port::CommitStatus::committed);
}

TEST_CASE("a hundred groups move in one transaction", "[contract]") {
  Scene scene;
  port::Transaction transaction;
  std::vector<std::string> groups;
  for (int i = 0; i < 100; ++i) {
    groups.push_back(world::fresh("group"));
    port::GroupMove move;
    move.group = GroupId{groups.back()};
    for (int partition = 0; partition < partitions; ++partition) {
      const TopicPartition at{TopicName{scene.topic}, partition};
      move.commits.push_back({at, 4, ""});
      move.before.push_back({at, std::nullopt});
    }
    transaction.moves.push_back(std::move(move));
    transaction.records.push_back({"result/" + std::to_string(i), "value"});
  }
  REQUIRE(scene.commit(transaction).status == port::CommitStatus::committed);
  for (const auto& group : groups) {
    REQUIRE(world::committed(group, scene.topic, partitions) == everywhere(4, ""));
  }
}

}  // namespace flow::kafka::testing
