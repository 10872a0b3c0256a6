#include <catch2/catch.hpp>

#include "tests/kafka/support/engine.h"

namespace flow::kafka::testing {
namespace {

constexpr int partitions = 3;

struct Scene {
  std::string control = world::fresh("control");
  std::string topic = world::fresh("topic");
  std::string group = world::fresh("group");
  std::unique_ptr<Engine> engine;

  Scene() {
    world::create_topic(control, 1, {{"cleanup.policy", "compact"}});
    world::create_topic(topic, partitions);
    world::fill(topic, partitions, 10);
    engine = std::make_unique<Engine>(control);
  }

  port::GroupView look() { return look(look_at(group, topic)); }

  port::GroupView look(const port::ObserveRequest& request) {
    const auto seen = value_of(engine->await((*engine)->groups().observe(request)));
    REQUIRE(seen.groups.size() == request.groups.size());
    CHECK(seen.at.value() > 1'600'000'000'000);
    return seen.groups.front();
  }
};

}  // namespace

TEST_CASE("a group that does not exist is missing", "[contract]") {
  Scene scene;
  const auto view = scene.look();
  CHECK(view.state == port::GroupState::missing);
  CHECK(view.state_name == "Dead");
  CHECK_FALSE(view.problem);
  REQUIRE(view.partitions.size() == partitions);
  for (int i = 0; i < partitions; ++i) {
    const auto& partition = view.partitions[static_cast<std::size_t>(i)];
    CHECK(partition.at == TopicPartition{TopicName{scene.topic}, i});
    CHECK_FALSE(partition.committed);
    CHECK(partition.start == 0);
    CHECK(partition.last_stable == 10);
    CHECK_FALSE(partition.problem);
  }
}

TEST_CASE("a group with offsets and nobody in it is empty", "[contract]") {
  Scene scene;
  world::commit(scene.group, scene.topic, {{0, {4, "metadata"}}, {2, {6, ""}}});
  const auto view = scene.look();
  CHECK(view.state == port::GroupState::empty);
  CHECK(view.state_name == "Empty");
  REQUIRE(view.partitions.size() == partitions);
  CHECK(view.partitions[0].committed == Committed{4, "metadata"});
  CHECK_FALSE(view.partitions[1].committed);
  CHECK(view.partitions[2].committed == Committed{6, ""});
}

TEST_CASE("a live member is named, with its host and static name", "[contract]") {
  Scene scene;
  const world::LiveMember member{scene.group, scene.topic, "someone", "static-1"};
  member.await_assignment();
  const auto view = scene.look();
  CHECK(view.state == port::GroupState::active);
  REQUIRE(view.members.size() == 1);
  CHECK(view.members[0].client_id == "someone");
  CHECK(view.members[0].instance_id == "static-1");
  CHECK(view.members[0].host == "127.0.0.1");
  CHECK_FALSE(view.members[0].member_id.empty());
  CHECK_FALSE(view.held_by_us);
}

TEST_CASE("a topic that does not exist is a problem of its group only, and is not made",
          "[contract]") {
  Scene scene;
  const auto missing = world::fresh("missing");
  auto request = look_at(scene.group, missing);
  request.groups.push_back({GroupId{scene.group}, {{TopicName{scene.topic}, {}}}});
  for (int i = 0; i < 2; ++i) {
    const auto seen = value_of(scene.engine->await((*scene.engine)->groups().observe(request)));
    REQUIRE(seen.groups[0].problem);
    CHECK(seen.groups[0].problem->errc == Errc::refused);
    CHECK(seen.groups[0].problem->detail == "no such topic '" + missing + "'");
    CHECK_FALSE(seen.groups[1].problem);
    CHECK(seen.groups[1].partitions.size() == partitions);
  }
}

TEST_CASE("a partition that does not exist is a problem of that partition", "[contract]") {
  Scene scene;
  port::ObserveRequest request;
  request.groups.push_back({GroupId{scene.group}, {{TopicName{scene.topic}, {1, 7}}}});
  const auto view = scene.look(request);
  REQUIRE(view.partitions.size() == 2);
  CHECK_FALSE(view.partitions[0].problem);
  REQUIRE(view.partitions[1].problem);
  CHECK(view.partitions[1].problem->errc == Errc::refused);
  CHECK_THAT(view.partitions[1].problem->detail, Catch::Contains("no partition 7 of topic"));
}

TEST_CASE("offsets under a pending transaction are never read as absent", "[contract]") {
  Scene scene;
  world::OpenTransaction open{scene.topic, scene.group, scene.topic, 3};
  const auto view = scene.look();
  REQUIRE(view.partitions.size() == partitions);
  REQUIRE(view.partitions[0].problem);
  CHECK(view.partitions[0].problem->errc == Errc::retriable);
  // The record of that transaction holds the stable end back, too.
  CHECK(view.partitions[0].last_stable == 10);
  open.commit();
  auto request = look_at(scene.group, scene.topic);
  request.until_stable = true;
  auto after = scene.look(request);
  CHECK_FALSE(after.partitions[0].problem);
  CHECK(after.partitions[0].committed == Committed{3, ""});
  // The topic's marker is written apart from the offsets' one, and may come later.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{5};
  while (after.partitions[0].last_stable != 12 && std::chrono::steady_clock::now() < until) {
    after = scene.look(request);
  }
  CHECK(after.partitions[0].last_stable == 12);
}

TEST_CASE("a look that waits for stable offsets gives up after a second", "[contract]") {
  Scene scene;
  const world::OpenTransaction open{scene.topic, scene.group, scene.topic, 3};
  auto request = look_at(scene.group, scene.topic);
  request.until_stable = true;
  const auto began = std::chrono::steady_clock::now();
  CHECK(scene.look(request).partitions[0].problem);
  const auto took = std::chrono::steady_clock::now() - began;
  CHECK(took > std::chrono::milliseconds{900});
  CHECK(took < std::chrono::seconds{3});
}

TEST_CASE("many groups are seen in the order that they were asked for", "[contract]") {
  Scene scene;
  port::ObserveRequest request;
  for (int i = 0; i < 60; ++i) {
    const GroupId group{world::fresh("group")};
    if (i % 3 == 0) {
      world::commit(group.value(), scene.topic, {{0, {i, ""}}});
    }
    request.groups.push_back({group, {{TopicName{scene.topic}, {0}}}});
  }
  const auto seen = value_of(scene.engine->await((*scene.engine)->groups().observe(request)));
  REQUIRE(seen.groups.size() == 60);
  for (int i = 0; i < 60; ++i) {
    const auto& view = seen.groups[static_cast<std::size_t>(i)];
    CHECK(view.group == request.groups[static_cast<std::size_t>(i)].group);
    CHECK(view.state == (i % 3 == 0 ? port::GroupState::empty : port::GroupState::missing));
    CHECK(view.partitions.at(0).committed ==
          (i % 3 == 0 ? std::optional{Committed{i, ""}} : std::nullopt));
  }
}

TEST_CASE("no broker: nothing could be seen", "[contract]") {
  ClientConfig nowhere;
  nowhere.settings["bootstrap.servers"] = "127.0.0.1:1";
  auto admin = Admin::make(nowhere, "test");
  REQUIRE(admin);
  const auto wrong = error_of(admin.value()->observe(look_at("group", "topic"), Duration{1'000}));
  CHECK(wrong.errc == Errc::unreachable);
  CHECK_THAT(wrong.detail, Catch::Contains("127.0.0.1:1"));
  CHECK_THAT(wrong.detail, Catch::Contains("Connection refused"));
}

TEST_CASE("a hold keeps a joiner waiting, moves the group, and lets it in afterwards",
          "[contract]") {
  Scene scene;
  world::commit(scene.group, scene.topic, {{0, {7, ""}}, {1, {7, ""}}, {2, {7, ""}}});
  auto& engine = *scene.engine;
  succeed(engine.await(engine->log().open_producer()));
  const std::vector<port::GroupQuery> groups{
      {GroupId{scene.group}, {{TopicName{scene.topic}, {}}}}};
  auto held = engine.await(engine->groups().hold(groups));
  REQUIRE(held);
  const auto view = scene.look();
  CHECK(view.held_by_us);
  CHECK(view.members.empty());
  CHECK(view.state == port::GroupState::empty);

  const world::LiveMember joiner{scene.group, scene.topic, "joiner"};
  // The joiner has to be known to the group before what follows shows anything.
  while (scene.look().members.empty()) {
  }
  CHECK_FALSE(joiner.has_assignment());
  port::Transaction transaction;
  transaction.moves = {move_all(scene.group, scene.topic, partitions, 2)};
  transaction.hold = held.value();
  const auto outcome = engine.await(engine->log().commit(transaction));
  CHECK(outcome.status == port::CommitStatus::committed);
  CHECK_FALSE(joiner.has_assignment());
  transaction.hold.reset();
  engine.await(engine->groups().release(std::move(held.value())));
  joiner.await_assignment();
  const auto after = world::committed(scene.group, scene.topic, partitions);
  CHECK(after.at(0).offset == 2);
  const auto last = scene.look();
  CHECK_FALSE(last.held_by_us);
  CHECK(last.members.size() == 1);
}

TEST_CASE("a group with a member cannot be held, and its member stays", "[contract]") {
  Scene scene;
  const world::LiveMember member{scene.group, scene.topic};
  member.await_assignment();
  auto& engine = *scene.engine;
  const auto held =
      engine.await(engine->groups().hold({{GroupId{scene.group}, {{TopicName{scene.topic}, {}}}}}));
  const auto wrong = error_of(held);
  CHECK(wrong.errc == Errc::retriable);
  CHECK_THAT(wrong.detail, Catch::Contains(scene.group));
  member.await_assignment();
  CHECK_FALSE(scene.look().held_by_us);
}

TEST_CASE("a hold that is dropped ends by itself", "[contract]") {
  Scene scene;
  auto& engine = *scene.engine;
  {
    const auto held = engine.await(
        engine->groups().hold({{GroupId{scene.group}, {{TopicName{scene.topic}, {}}}}}));
    REQUIRE(held);
    CHECK(scene.look().held_by_us);
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{5};
  while (scene.look().held_by_us) {
    REQUIRE(std::chrono::steady_clock::now() < until);
  }
}

TEST_CASE("offsets of a hold that has ended are refused, and nothing happens", "[contract]") {
  Scene scene;
  world::commit(scene.group, scene.topic, {{0, {7, ""}}, {1, {7, ""}}, {2, {7, ""}}});
  auto& engine = *scene.engine;
  succeed(engine.await(engine->log().open_producer()));
  auto held =
      engine.await(engine->groups().hold({{GroupId{scene.group}, {{TopicName{scene.topic}, {}}}}}));
  REQUIRE(held);
  port::Transaction transaction;
  transaction.moves = {move_all(scene.group, scene.topic, partitions, 2)};
  transaction.hold = held.value();
  engine.await(engine->groups().release(std::move(held.value())));
  const auto outcome = engine.await(engine->log().commit(transaction));
  CHECK(outcome.status == port::CommitStatus::aborted);
  REQUIRE(outcome.error);
  CHECK(outcome.error->errc == Errc::retriable);
  CHECK(world::committed(scene.group, scene.topic, partitions).at(0).offset == 7);
}

}  // namespace flow::kafka::testing
