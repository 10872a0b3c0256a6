#include <catch2/catch.hpp>

#include "tests/kafka/support/engine.h"

namespace flow::kafka::testing {
namespace {

std::unique_ptr<Admin> make_admin() {
  auto made = Admin::make(client_config(), "test");
  REQUIRE(made);
  return std::move(made.value());
}

std::unique_ptr<Appender> make_appender(const std::string& topic) {
  auto made = Appender::make(client_config(), TopicName{topic}, "test");
  REQUIRE(made);
  return std::move(made.value());
}

std::unique_ptr<Scan> make_scan(const std::string& topic, std::int64_t from) {
  auto made = Scan::make(client_config(), TopicName{topic}, LogPosition{from}, "test");
  REQUIRE(made);
  return std::move(made.value());
}

}  // namespace

TEST_CASE("a control topic is made as it has to be, once", "[contract]") {
  const auto admin = make_admin();
  const TopicName topic{world::fresh("control")};
  const auto made = value_of(admin->create_log(topic, 0, default_deadline));
  CHECK(made.partitions == 1);
  CHECK(made.replicas == 1);
  CHECK(made.cleanup_policy == "compact");
  CHECK(made.min_insync_replicas == 1);
  CHECK_FALSE(made.unclean_leader_election);
  CHECK(value_of(admin->describe_log(topic, default_deadline)).cleanup_policy == "compact");
  const auto again = error_of(admin->create_log(topic, 0, default_deadline));
  CHECK(again == error(Errc::refused, "topic '" + topic.value() + "' exists already"));
}

TEST_CASE("more replicas than brokers are refused in Kafka's words", "[contract]") {
  const auto wrong =
      error_of(make_admin()->create_log(TopicName{world::fresh("control")}, 3, default_deadline));
  CHECK(wrong.errc == Errc::refused);
  CHECK_THAT(wrong.detail, Catch::Contains("replication factor", Catch::CaseSensitive::No));
}

TEST_CASE("a missing topic is not made by looking, appending or reading", "[contract]") {
  const auto missing = world::fresh("missing");
  const auto admin = make_admin();
  for (int i = 0; i < 2; ++i) {
    const auto wrong = error_of(admin->describe_log(TopicName{missing}, default_deadline));
    CHECK(wrong == error(Errc::refused, "no such topic '" + missing + "'"));
    CHECK(error_of(make_appender(missing)->append({"key", "value"}, default_deadline)) == wrong);
    CHECK(error_of(make_scan(missing, 0)->next(default_deadline)) == wrong);
  }
}

TEST_CASE("appended records are read back, tombstones too", "[contract]") {
  const auto topic = world::fresh("control");
  world::create_topic(topic, 1, {{"cleanup.policy", "compact"}});
  const auto appender = make_appender(topic);
  const auto scan = make_scan(topic, 0);
  const auto first = value_of(appender->append({"a", "value"}, default_deadline));
  const auto second = value_of(appender->append({"b", std::nullopt}, default_deadline));
  std::vector<port::LogBatch> batches;
  std::vector<port::LogRecord> records;
  while (records.size() < 2) {
    batches.push_back(value_of(scan->next(default_deadline)));
    records.insert(records.end(), batches.back().records.begin(), batches.back().records.end());
  }
  CHECK(records[0].position == first);
  CHECK(records[0].value == "value");
  CHECK(records[1].position == second);
  CHECK_FALSE(records[1].value);
  CHECK(world::read_all(topic).size() == 2);
}

TEST_CASE("a scan that finds nothing returns at its deadline", "[contract]") {
  const auto topic = world::fresh("control");
  world::create_topic(topic, 1, {{"cleanup.policy", "compact"}});
  const auto scan = make_scan(topic, 0);
  CHECK(value_of(scan->next(default_deadline)).at_end);
  const auto began = std::chrono::steady_clock::now();
  const auto batch = value_of(scan->next(Duration{300}));
  CHECK(batch.records.empty());
  const auto took = std::chrono::steady_clock::now() - began;
  CHECK(took >= std::chrono::milliseconds{299});
  CHECK(took < std::chrono::seconds{2});
}

TEST_CASE("a scan that waits longer than it reads fast still sees what comes", "[contract]") {
  const auto topic = world::fresh("control");
  world::create_topic(topic, 1, {{"cleanup.policy", "compact"}});
  const auto scan = make_scan(topic, 0);
  CHECK(value_of(scan->next(default_deadline)).at_end);
  CHECK(value_of(scan->next(Duration{2'500})).records.empty());
  const auto appender = make_appender(topic);
  for (const std::string key : {"a", "b", "c"}) {
    static_cast<void>(value_of(appender->append({key, "value"}, default_deadline)));
    port::LogBatch batch;
    do {
      batch = value_of(scan->next(default_deadline));
    } while (batch.records.empty());
    REQUIRE(batch.records.size() == 1);
    CHECK(batch.records[0].key == key);
  }
}

TEST_CASE("a topic that is no control topic takes no appends", "[contract]") {
  const auto [partitions, policy, named] = GENERATE(table<int, std::string, std::string>({
      {3, "compact", "has 3 partitions"},
      {1, "delete", "cleanup.policy=delete"},
  }));
  const auto topic = world::fresh("control");
  world::create_topic(topic, partitions, {{"cleanup.policy", policy}});
  const auto wrong = error_of(make_appender(topic)->append({"key", "value"}, default_deadline));
  CHECK(wrong.errc == Errc::refused);
  CHECK_THAT(wrong.detail, Catch::Contains(named));
  CHECK(world::read_all(topic).empty());
}

TEST_CASE("the topics that a group has offsets on", "[contract]") {
  const auto admin = make_admin();
  const auto group = world::fresh("group");
  CHECK(value_of(admin->committed_topics(GroupId{group}, default_deadline)).empty());
  const auto topic = world::fresh("topic");
  world::create_topic(topic, 3);
  world::commit(group, topic, {{0, {1, ""}}, {2, {3, ""}}});
  CHECK(value_of(admin->committed_topics(GroupId{group}, default_deadline)) ==
        std::vector<TopicSelection>{{TopicName{topic}, {0, 2}}});
}

TEST_CASE("a setting that librdkafka does not take is named, without a secret's value",
          "[contract]") {
  auto config = client_config();
  const auto [name, value, named] = GENERATE(table<std::string, std::string, std::string>({
      {"no.such.setting", "1", "no.such.setting=1"},
      {"socket.timeout.ms", "soon", "socket.timeout.ms=soon"},
      {"enable.ssl.certificate.verification", "hunter2", "hunter2"},
  }));
  config.settings[name] = value;
  const auto wrong = error_of(Admin::make(config, "test"));
  CHECK(wrong.errc == Errc::invalid);
  CHECK_THAT(wrong.detail, Catch::Contains(named));
}

}  // namespace flow::kafka::testing
