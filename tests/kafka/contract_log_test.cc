#include <catch2/catch.hpp>

#include "tests/kafka/support/engine.h"

namespace flow::kafka::testing {
namespace {

std::string control_topic(const std::map<std::string, std::string>& settings = {}) {
  auto name = world::fresh("control");
  auto all = settings;
  all.try_emplace("cleanup.policy", "compact");
  world::create_topic(name, 1, all);
  return name;
}

struct Read {
  std::vector<std::string> keys;
  std::vector<std::int64_t> positions;
  LogPosition next;
};

// Reads from `from` until the end is reported.
Read read_to_end(Engine& engine, std::int64_t from) {
  succeed(engine.await(engine->log().seek(LogPosition{from})));
  Read read;
  for (int i = 0; i < 20; ++i) {
    const auto batch = value_of(engine.await(engine->log().read()));
    for (const auto& record : batch.records) {
      read.keys.emplace_back(record.key);
      read.positions.push_back(record.position.value());
    }
    read.next = batch.next;
    if (batch.at_end) {
      return read;
    }
  }
  FAIL("the end was not reported");
  return read;
}

void commit(Engine& engine, const std::string& key) {
  port::Transaction transaction;
  transaction.records = {{key, "value"}};
  const auto outcome = engine.await(engine->log().commit(transaction));
  REQUIRE(outcome.status == port::CommitStatus::committed);
}

}  // namespace

TEST_CASE("an empty log is at its end at once", "[contract]") {
  Engine engine{control_topic()};
  const auto read = read_to_end(engine, 0);
  CHECK(read.keys.empty());
  CHECK(read.next == LogPosition{0});
}

TEST_CASE("the end lies beyond the last transaction's marker", "[contract]") {
  Engine engine{control_topic()};
  succeed(engine.await(engine->log().open_producer()));
  commit(engine, "a");
  commit(engine, "b");
  const auto read = read_to_end(engine, 0);
  CHECK(read.keys == std::vector<std::string>{"a", "b"});
  CHECK(read.positions == std::vector<std::int64_t>{0, 2});
  CHECK(read.next == LogPosition{4});
  CHECK(value_of(engine.await(engine->log().describe())).last_stable == LogPosition{4});
}

TEST_CASE("a read goes on where the last one ended, and sees what is appended", "[contract]") {
  const auto control = control_topic();
  Engine engine{control};
  read_to_end(engine, 0);
  auto made = Appender::make(client_config(), TopicName{control}, "test");
  REQUIRE(made);
  for (const std::string key : {"a", "b", "c"}) {
    const auto position = value_of(made.value()->append({key, key + "'s value"}, default_deadline));
    const auto batch = value_of(engine.await(engine->log().read()));
    REQUIRE(batch.records.size() == 1);
    CHECK(batch.records[0].key == key);
    CHECK(batch.records[0].value == key + "'s value");
    CHECK(batch.records[0].position == position);
    CHECK(batch.records[0].timestamp.value() > 1'600'000'000'000);
    if (!batch.at_end) {
      CHECK(value_of(engine.await(engine->log().read())).at_end);
    }
  }
}

TEST_CASE("records are still there after other batches were read", "[contract]") {
  const auto control = control_topic();
  world::fill(control, 1, 25'000);
  Engine engine{control};
  succeed(engine.await(engine->log().seek(LogPosition{0})));
  std::vector<port::LogBatch> batches;
  std::size_t count = 0;
  do {
    batches.push_back(value_of(engine.await(engine->log().read())));
    CHECK(batches.back().records.size() <= 10'000);
    count += batches.back().records.size();
  } while (!batches.back().at_end);
  CHECK(count == 25'000);
  std::size_t number = 0;
  for (const auto& batch : batches) {
    for (const auto& record : batch.records) {
      REQUIRE(record.key == "record " + std::to_string(number++));
    }
  }
}

TEST_CASE("what an open transaction hides comes with its end", "[contract]") {
  const auto control = control_topic();
  Engine engine{control};
  succeed(engine.await(engine->log().open_producer()));
  world::OpenTransaction open{control, "", "", 0};
  commit(engine, "behind");
  CHECK(read_to_end(engine, 0).keys.empty());
  const auto state = value_of(engine.await(engine->log().describe()));
  CHECK(state.last_stable == LogPosition{0});
  CHECK(state.high_watermark == LogPosition{3});
  open.commit();
  CHECK(read_to_end(engine, 0).keys == std::vector<std::string>{"open", "behind"});
}

TEST_CASE("an aborted transaction is never seen", "[contract]") {
  const auto control = control_topic();
  Engine engine{control};
  { const world::OpenTransaction aborted{control, "", "", 0}; }
  const auto read = read_to_end(engine, 0);
  CHECK(read.keys.empty());
  CHECK(read.next == LogPosition{2});
}

TEST_CASE("a position that the log does not have is refused, and again", "[contract]") {
  Engine engine{control_topic()};
  succeed(engine.await(engine->log().seek(LogPosition{100})));
  for (int i = 0; i < 2; ++i) {
    const auto wrong = error_of(engine.await(engine->log().read()));
    CHECK(wrong.errc == Errc::refused);
    CHECK_THAT(wrong.detail, Catch::Contains("at 100: no such position"));
  }
  CHECK(read_to_end(engine, 0).keys.empty());
}

TEST_CASE("a topic that is deleted under the reader is refused", "[contract]") {
  const auto control = control_topic();
  Engine engine{control};
  read_to_end(engine, 0);
  world::delete_topic(control);
  std::optional<Error> wrong;
  for (int i = 0; i < 60 && !wrong; ++i) {
    auto batch = engine.await(engine->log().read());
    if (!batch) {
      wrong = batch.error();
    }
  }
  REQUIRE(wrong);
  CHECK(wrong->errc == Errc::refused);
  CHECK_THAT(wrong->detail, Catch::Contains("no such topic"));
  CHECK(error_of(engine.await(engine->log().describe())).errc == Errc::refused);
}

TEST_CASE("a missing topic is refused, and is not made", "[contract]") {
  const auto missing = world::fresh("missing");
  Engine engine{missing};
  for (int i = 0; i < 2; ++i) {
    CHECK(error_of(engine.await(engine->log().describe())).errc == Errc::refused);
    CHECK(error_of(engine.await(engine->log().seek(LogPosition{0}))).errc == Errc::refused);
    CHECK(error_of(engine.await(engine->log().read())).errc == Errc::refused);
    CHECK(error_of(engine.await(engine->log().open_producer())).errc == Errc::refused);
  }
}

TEST_CASE("a log is described as it is", "[contract]") {
  const auto control = control_topic({{"cleanup.policy", "compact,delete"},
                                      {"min.insync.replicas", "1"},
                                      {"delete.retention.ms", "12345"}});
  world::fill(control, 1, 4);
  Engine engine{control};
  const auto state = value_of(engine.await(engine->log().describe()));
  CHECK(state.partitions == 1);
  CHECK(state.replicas == 1);
  CHECK(state.cleanup_policy == "compact,delete");
  CHECK(state.min_insync_replicas == 1);
  CHECK_FALSE(state.unclean_leader_election);
  CHECK(state.delete_retention == Duration{12345});
  CHECK(state.start == LogPosition{0});
  CHECK(state.last_stable == LogPosition{4});
  CHECK(state.high_watermark == LogPosition{4});
}

}  // namespace flow::kafka::testing
