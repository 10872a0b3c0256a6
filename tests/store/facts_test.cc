#include "store/facts.h"

#include <catch2/catch.hpp>

#include "schemas/codec.h"
#include "tests/support/builders.h"

namespace flow::test {
namespace {

store::RequestFacts facts_of(const std::vector<OwnedRecord>& records) {
  store::RequestFacts facts;
  facts.id = id_of(1);
  for (const auto& record : records) {
    store::apply(facts, *decode_key(record.key), record.view());
  }
  return facts;
}

TEST_CASE("of two dones the lower leader number counts", "[facts]") {
  const auto facts = facts_of(
      {at(1, done_of(1, DoneOutcome::refused, 20)), at(2, done_of(1, DoneOutcome::completed, 10))});
  REQUIRE(store::closing_done(facts) != nullptr);
  CHECK(store::closing_done(facts)->outcome == DoneOutcome::completed);
}

TEST_CASE("of two results the lower leader number counts", "[facts]") {
  auto later = result_of(1, "g", 20);
  later.failure = "late";
  const auto facts = facts_of({at(1, later), at(2, result_of(1, "g", 10))});
  REQUIRE(store::result_of(facts, GroupId{"g"}) != nullptr);
  CHECK(store::result_of(facts, GroupId{"g"})->failure.empty());
  CHECK(store::result_of(facts, GroupId{"h"}) == nullptr);
  CHECK(store::has_result(facts, GroupId{"g"}));
  CHECK_FALSE(store::has_result(facts, GroupId{"h"}));
}

TEST_CASE("a result that cannot be read counts as there", "[facts]") {
  const auto facts = facts_of({at(1, key_of(result_of(1)), "rubbish")});
  CHECK(store::result_of(facts, GroupId{"g"}) == nullptr);
  CHECK(store::has_result(facts, GroupId{"g"}));
}

TEST_CASE("what the guard record accepted is carried out, whatever is asked later", "[facts]") {
  auto other = request_of(1, {"other"});
  const auto accepted = guard_of(request_of(1, {"g"}));
  auto facts = facts_of({at(0, request_of(1, {"g"})), at(1, accepted), at(2, other)});
  REQUIRE(store::accepted_request(facts) != nullptr);
  CHECK(store::accepted_request(facts)->groups == std::vector{GroupId{"g"}});
  facts = facts_of({at(0, request_of(1, {"g"})), at(2, other)});
  CHECK(store::accepted_request(facts)->groups == std::vector{GroupId{"other"}});
}

TEST_CASE("a request is as old as it says, or else as its record", "[facts]") {
  auto request = request_of(1);
  request.asked_at = Instant{5};
  CHECK(store::asked_at(facts_of({at(0, request)})) == Instant{5});
  request.asked_at = {};
  CHECK(store::asked_at(facts_of({at(0, request)})) == Instant{1'000});
  CHECK(store::asked_at(facts_of({at(0, key_of(request), "rubbish")})) == Instant{1'000});
  CHECK_FALSE(store::asked_at(facts_of({})).has_value());
}

TEST_CASE("applying says what could not be read, and a tombstone is no bad record", "[facts]") {
  store::RequestFacts facts;
  for (const auto& [name, record] : full_records()) {
    const auto key = key_of(record);
    if (key.id.value().empty()) {
      continue;
    }
    CAPTURE(name);
    CHECK(store::apply(facts, key, at(0, record).view()).readable);
    CHECK(store::apply(facts, key, at(1, key, std::nullopt).view()).readable);
    const auto bad = store::apply(facts, key, at(2, key, "rubbish").view());
    CHECK_FALSE(bad.readable);
    CHECK_FALSE(bad.problem.empty());
  }
  const RecordKey step{Kind::step, id_of(1), "1", {}};
  CHECK_FALSE(store::apply(facts, step, at(0, step, "rubbish").view()).readable);
  CHECK(store::apply(facts, step, at(0, step, std::nullopt).view()).readable);
}

}  // namespace
}  // namespace flow::test
