#include "store/phase.h"

#include <catch2/catch.hpp>

#include "schemas/codec.h"
#include "tests/support/builders.h"

// Every row of the table in store/phase.h, and what the rows say of each other's order.
namespace flow::test {
namespace {

using store::Phase;
using store::RequestFacts;

// A record, as it stands on the log under its own key.
struct Said {
  RecordKey key;
  std::optional<std::string> value;
};

Said said(const Record& record) { return {key_of(record), encode(record)}; }
Said erased(const Record& record) { return {key_of(record), std::nullopt}; }
Said rubbish(const Record& record) { return {key_of(record), "rubbish"}; }
// A record of a newer version: an enum number that is not known yet.
Said newer(const Record& record) {
  const std::string kind = std::string{to_string(key_of(record).kind)};
  const std::string id = key_of(record).id.value();
  if (kind == "done") {
    return {key_of(record),
            R"({"body_type":"Done","body":{"id":")" + id + R"(","leader":1,"outcome":77}})"};
  }
  const std::string request = R"({"id":")" + id + R"(","position":{"kind":77}})";
  return {key_of(record), kind == "guard"
                              ? R"({"body_type":"Guard","body":{"request":)" + request + "}}"
                              : R"({"body_type":"Request","body":)" + request + "}"};
}

RequestFacts facts_of(const std::vector<Said>& all) {
  RequestFacts facts;
  facts.id = id_of(1);
  std::int64_t position = 0;
  for (const auto& [key, value] : all) {
    const auto record = at(position++, key, value);
    store::apply(facts, key, record.view());
  }
  return facts;
}

Guard guard(Verdict verdict) { return guard_of(request_of(1), verdict); }

Guard guard_without_request() {
  Guard made;
  made.id = id_of(1);
  return made;
}

using Row = std::pair<std::vector<Said>, Phase>;

std::vector<Row> ended_rows() {
  const auto request = said(request_of(1));
  const auto waits = said(guard(Verdict::waiting));
  const auto passed = said(guard(Verdict::passed));
  const auto closed = said(guard(Verdict::closed));
  const auto result = said(result_of(1));
  const auto done = said(done_of(1));
  const auto intent = said(intent_of(1));
  return {
      // A readable done.
      {{done}, Phase::closed},
      {{request, closed, done}, Phase::closed},
      {{request, passed, result, done}, Phase::closed},
      {{done, request}, Phase::closed},
      {{request, intent, done}, Phase::closed},
      {{rubbish(request_of(1)), done}, Phase::closed},
      {{rubbish(done_of(1, DoneOutcome::completed, 1)),
        said(done_of(1, DoneOutcome::completed, 2))},
       Phase::closed},
      {{erased(done_of(1, DoneOutcome::completed, 1)), said(done_of(1, DoneOutcome::completed, 2))},
       Phase::closed},
      // A done that is erased or cannot be read.
      {{request, passed, result, erased(done_of(1))}, Phase::damaged},
      {{request, waits, rubbish(done_of(1))}, Phase::damaged},
      {{request, newer(done_of(1))}, Phase::damaged},
      {{request, erased(done_of(1))}, Phase::damaged},
      {{request, intent, erased(done_of(1))}, Phase::damaged},
      {{erased(done_of(1))}, Phase::damaged},
      // A guard record that closed.
      {{request, closed}, Phase::damaged},
      {{closed}, Phase::damaged},
      {{request, intent, closed}, Phase::damaged},
      // A result or a guard record that passed, no intent.
      {{request, result}, Phase::damaged},
      {{request, waits, result}, Phase::damaged},
      {{request, waits, rubbish(result_of(1))}, Phase::damaged},
      {{request, passed}, Phase::damaged},
      {{request, result, said(intent_of(1, "east", true))}, Phase::damaged},
  };
}

std::vector<Row> open_rows() {
  const auto request = said(request_of(1));
  const auto waits = said(guard(Verdict::waiting));
  const auto passed = said(guard(Verdict::passed));
  const auto result = said(result_of(1));
  const auto intent = said(intent_of(1));
  return {
      // An intent that was not withdrawn.
      {{request, waits, intent}, Phase::moving},
      {{request, waits, result, intent}, Phase::moving},
      {{request, passed, intent}, Phase::moving},
      {{request, waits, rubbish(intent_of(1))}, Phase::moving},
      {{request, waits, said(intent_of(1, "east", true)), said(intent_of(1, "west"))},
       Phase::moving},
      {{request, waits, said(intent_of(1, "east", true))}, Phase::waiting},
      {{request, waits, erased(intent_of(1))}, Phase::waiting},
      // A guard record that cannot be read or holds no request.
      {{request, rubbish(guard(Verdict::waiting))}, Phase::damaged},
      {{request, said(guard_without_request())}, Phase::damaged},
      // A guard record of a newer version.
      {{request, newer(guard(Verdict::waiting))}, Phase::newer},
      // A guard record that waits.
      {{request, waits}, Phase::waiting},
      {{waits}, Phase::waiting},
      {{rubbish(request_of(1)), waits}, Phase::waiting},
      {{erased(request_of(1)), waits}, Phase::waiting},
      {{waits, newer(request_of(1))}, Phase::waiting},
      {{request, waits, said(cancel_of(1))}, Phase::waiting},
      // A request.
      {{request}, Phase::requested},
      {{request, erased(guard(Verdict::waiting))}, Phase::requested},
      {{request, said(verified_of(1))}, Phase::requested},
      {{rubbish(request_of(1)), request}, Phase::requested},
      {{newer(request_of(1))}, Phase::newer},
      {{request, newer(request_of(1))}, Phase::newer},
      {{rubbish(request_of(1))}, Phase::unreadable},
      {{request, rubbish(request_of(1))}, Phase::unreadable},
      // Nothing of these.
      {{}, Phase::unknown},
      {{said(cancel_of(1))}, Phase::unknown},
      {{said(verified_of(1))}, Phase::unknown},
      {{erased(request_of(1))}, Phase::unknown},
      {{request, erased(request_of(1))}, Phase::unknown},
  };
}

TEST_CASE("a request's phase is computed from its facts", "[phase]") {
  auto all = ended_rows();
  const auto open = open_rows();
  all.insert(all.end(), open.begin(), open.end());
  const auto row = GENERATE_COPY(range(std::size_t{0}, all.size()));
  CAPTURE(row);
  const auto facts = facts_of(all[row].first);
  CHECK(store::to_string(store::phase_of(facts)) == store::to_string(all[row].second));
  CHECK(store::damage_of(facts).empty() == (all[row].second != Phase::damaged));
  // The order in which records of different keys came says nothing.
  auto turned = all[row].first;
  std::stable_sort(turned.begin(), turned.end(),
                   [](const Said& a, const Said& b) { return b.key < a.key; });
  CHECK(store::phase_of(facts_of(turned)) == all[row].second);
}

TEST_CASE("damage is told with its reason", "[phase]") {
  const auto request = said(request_of(1));
  CHECK(store::damage_of(facts_of({request, erased(done_of(1))})) ==
        "its done record was erased (record at position 1)");
  CHECK_THAT(store::damage_of(facts_of({request, rubbish(done_of(1))})),
             Catch::StartsWith("its done record cannot be read: the value is neither"));
  CHECK(store::damage_of(facts_of({request, newer(done_of(1))})) ==
        "its done record is of a newer version of flow (record at position 1)");
  CHECK(store::damage_of(facts_of({request, said(result_of(1))})) ==
        "it has a result but no done record");
  CHECK(store::damage_of(facts_of({request, said(guard(Verdict::passed))})) ==
        "its guard record says that it ended, but its done record is missing");
  CHECK_THAT(store::damage_of(facts_of({request, rubbish(guard(Verdict::waiting))})),
             Catch::StartsWith("its guard record cannot be read: "));
  CHECK(store::damage_of(facts_of({request, said(guard_without_request())})) ==
        "its guard record holds no request");
}

TEST_CASE("what is open has something left to do", "[phase]") {
  using Open = std::pair<Phase, bool>;
  const auto [phase, open] =
      GENERATE(Open{Phase::unknown, false}, Open{Phase::requested, true},
               Open{Phase::unreadable, true}, Open{Phase::newer, true}, Open{Phase::waiting, true},
               Open{Phase::moving, true}, Open{Phase::closed, false}, Open{Phase::damaged, false});
  CHECK(store::is_open(phase) == open);
}

TEST_CASE("a closed request is unverified until the last look at each group it moved", "[phase]") {
  const auto done = said(done_of(1));
  const auto moved_g = said(result_of(1, "g"));
  const auto moved_h = said(result_of(1, "h"));
  const auto last_g = said(verified_of(1, "g", true));
  const auto first_g = said(verified_of(1, "g", false));
  const auto last_h = said(verified_of(1, "h", true));
  const std::vector<std::pair<std::vector<Said>, bool>> all{
      {{done}, false},
      {{moved_g}, false},
      {{done, moved_g}, true},
      {{done, moved_g, first_g}, true},
      {{done, moved_g, last_g}, false},
      {{last_g, done, moved_g}, false},
      {{done, moved_g, last_g, first_g}, true},
      {{done, moved_g, moved_h, last_g}, true},
      {{done, moved_g, moved_h, last_g, last_h}, false},
      {{done, moved_g, erased(verified_of(1))}, true},
      {{done, moved_g, rubbish(verified_of(1))}, false},
      {{done, said(failure_of(1, "g", "no such topic"))}, false},
      {{done, rubbish(result_of(1))}, false},
      {{rubbish(done_of(1)), moved_g}, false},
  };
  const auto row = GENERATE_COPY(range(std::size_t{0}, all.size()));
  CAPTURE(row);
  CHECK(store::is_unverified(facts_of(all[row].first)) == all[row].second);
}

}  // namespace
}  // namespace flow::test
