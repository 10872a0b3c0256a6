#include <boost/asio/co_spawn.hpp>
#include <catch2/catch.hpp>
#include <chrono>

#include "tests/kafka/support/engine.h"

namespace flow::kafka::testing {
namespace {

std::string control_topic() {
  auto name = world::fresh("control");
  world::create_topic(name, 1, {{"cleanup.policy", "compact"}});
  return name;
}

port::Role next_role(Engine& engine, port::Role current) {
  return engine.await(engine->leadership().changed_from(current));
}

// Answers the group's rebalances for as long as `other` needs for its own change.
boost::asio::awaitable<void> follow(port::Leadership& leadership, port::Role* role, bool* stop) {
  while (!*stop) {
    *role = co_await leadership.changed_from(*role);
  }
}

}  // namespace

TEST_CASE("a lone engine leads, shows it, and finds the guard checked", "[contract]") {
  const auto control = control_topic();
  Engine engine{control};
  CHECK(next_role(engine, port::Role::follower) == port::Role::leader);
  const auto confirmed = engine.await(engine->leadership().confirm(LogPosition{5}));
  CHECK(value_of(confirmed));
  CHECK(world::committed("flow-engine." + control, control, 1).at(0).offset == 5);

  auto admin = Admin::make(client_config(), "test");
  REQUIRE(admin);
  const auto group = value_of(admin.value()->engine_group(TopicName{control}, default_deadline));
  REQUIRE(group.members.size() == 1);
  CHECK(group.members[0].client_id == "flow-engine@test-host:engine-1");
  REQUIRE(group.leader);
  CHECK(group.leader->client_id == "flow-engine@test-host:engine-1");

  CHECK(error_of(engine.await(engine->leadership().probe_guard())).errc == Errc::retriable);
  succeed(engine.await(engine->log().open_producer()));
  const auto guard = engine.await(engine->leadership().probe_guard());
  CHECK(value_of(guard) == port::GuardSupport::checked);
  CHECK(world::committed("flow-engine." + control, control, 1).at(0).offset == 5);
  // The producer is as good as before.
  port::Transaction transaction;
  transaction.records = {{"key", "value"}};
  const auto outcome = engine.await(engine->log().commit(transaction));
  CHECK(outcome.status == port::CommitStatus::committed);
  CHECK_FALSE(outcome.producer_spent);
  engine.await(engine->leadership().leave());
}

TEST_CASE("an engine that never led confirms nothing", "[contract]") {
  const auto control = control_topic();
  Engine engine{control};
  CHECK_FALSE(value_of(engine.await(engine->leadership().confirm(LogPosition{5}))));
  CHECK(world::committed("flow-engine." + control, control, 1).at(0).offset == -1);
}

TEST_CASE("a second engine follows, and leads when the first has left", "[contract]") {
  const auto control = control_topic();
  Engine first{control, "engine-1"};
  Engine second{control, "engine-2"};
  REQUIRE(next_role(first, port::Role::follower) == port::Role::leader);

  // Both on threads of their own, as two processes are.
  bool stop = false;
  port::Role role_of_first = port::Role::leader;
  boost::asio::co_spawn(first.loop(), follow(first->leadership(), &role_of_first, &stop),
                        [](std::exception_ptr) {});
  std::thread first_loop{[&first] {
    first.loop().restart();
    first.loop().run_for(std::chrono::seconds{4});
  }};
  port::Role role_of_second = port::Role::follower;
  boost::asio::co_spawn(second.loop(), follow(second->leadership(), &role_of_second, &stop),
                        [](std::exception_ptr) {});
  second.loop().restart();
  second.loop().run_for(std::chrono::seconds{4});
  first_loop.join();
  // One of them leads; joining never leaves none or two.
  CHECK(role_of_first != role_of_second);
  Engine& leader = role_of_first == port::Role::leader ? first : second;
  Engine& follower = role_of_first == port::Role::leader ? second : first;
  port::Role& role = role_of_first == port::Role::leader ? role_of_second : role_of_first;
  leader.await(leader->leadership().leave());
  const auto left = std::chrono::steady_clock::now();
  while (role == port::Role::follower) {
    REQUIRE(std::chrono::steady_clock::now() - left < std::chrono::seconds{10});
    follower.loop().restart();
    follower.loop().run_one_for(std::chrono::milliseconds{100});
  }
  CHECK(value_of(follower.await(follower->leadership().confirm(LogPosition{1}))));
  CHECK_FALSE(value_of(leader.await(leader->leadership().confirm(LogPosition{2}))));
  stop = true;
}

}  // namespace flow::kafka::testing
