#include "engine/decide/verify.h"

#include <catch2/catch.hpp>

#include "tests/decide/views.h"

namespace flow::test {
namespace {

using decide::VerificationSituation;

port::GroupView at_offset(std::optional<std::int64_t> offset, const std::string& metadata = {}) {
  auto view = view_of("g");
  view.partitions = {partition(0, offset)};
  if (offset) {
    view.partitions[0].committed->metadata = metadata;
  }
  return view;
}

port::GroupView with_problem(Errc errc) {
  auto view = at_offset(0);
  view.partitions[0].problem = error(errc, "why");
  return view;
}

port::GroupView active_at(std::optional<std::int64_t> offset) {
  auto view = at_offset(offset);
  view.state = port::GroupState::active;
  view.members = {{"app", {}, {}, {}}};
  return view;
}

// The result moved "t" partition 0 to 0.
TEST_CASE("what became of the offsets", "[verify]") {
  struct Row {
    const char* what;
    port::GroupView view;
    bool first;
    std::optional<Standing> standing;
    bool contested;
    bool unstable;
    std::size_t elsewhere;
  };
  auto unlisted = at_offset(0);
  unlisted.partitions.clear();
  auto unnamed = active_at(0);
  unnamed.members.clear();
  const auto row = GENERATE_COPY(values<Row>({
      {"as the result says", at_offset(0), true, Standing::stands, false, false, 0},
      {"a member, not moved on", active_at(0), true, Standing::started, true, false, 0},
      {"a member that is not named", unnamed, true, Standing::started, true, false, 0},
      {"a member, later", active_at(0), false, Standing::started, false, false, 0},
      {"a member, moved on", active_at(9), false, Standing::started, false, false, 1},
      {"other offsets, no member", at_offset(9), true, Standing::superseded, false, false, 1},
      {"other metadata, no member", at_offset(0, "m"), false, Standing::superseded, false, false,
       1},
      {"no offsets", at_offset({}), false, Standing::gone, false, false, 0},
      {"topic deleted", with_problem(Errc::refused), false, Standing::gone, false, false, 0},
      {"partition not listed", unlisted, false, Standing::gone, false, false, 0},
      {"group problem that stays", problem_view("g", Errc::refused, "no"), false, Standing::gone,
       false, false, 1},
      {"still pending, first look", with_problem(Errc::retriable), true, Standing::stands, false,
       true, 0},
      {"still pending, later", with_problem(Errc::retriable), false, std::nullopt, false, false, 0},
      {"away", with_problem(Errc::unreachable), true, std::nullopt, false, false, 0},
      {"group away", problem_view("g", Errc::unreachable, "no"), true, std::nullopt, false, false,
       0},
      {"group loading", problem_view("g", Errc::retriable, "no"), true, std::nullopt, false, false,
       0},
  }));
  CAPTURE(row.what);
  const auto found = decide::verify(result_of(1), nullptr, row.view, Instant{9}, row.first);
  REQUIRE(found.has_value() == row.standing.has_value());
  if (found) {
    CHECK(found->standing == *row.standing);
    CHECK(found->contested == row.contested);
    CHECK(found->unstable == row.unstable);
    CHECK(found->offsets.size() == row.elsewhere);
    CHECK(found->at == Instant{9});
    CHECK(found->group == GroupId{"g"});
  }
}

TEST_CASE("what was seen once explains what is found later", "[verify]") {
  struct Row {
    const char* what;
    Standing recorded;
    port::GroupView view;
    Standing expected;
  };
  const auto row = GENERATE_COPY(values<Row>({
      {"members were there", Standing::started, at_offset(9), Standing::started},
      {"members were there, nothing moved", Standing::started, at_offset(0), Standing::started},
      {"members were there, then expired", Standing::started, at_offset({}), Standing::started},
      {"superseded, then a member", Standing::superseded, active_at(9), Standing::superseded},
      {"superseded, then back", Standing::superseded, at_offset(0), Standing::superseded},
      {"stood, then a member", Standing::stands, active_at(9), Standing::started},
      {"stood, then superseded", Standing::stands, at_offset(9), Standing::superseded},
      {"gone, then a member", Standing::gone, active_at(9), Standing::started},
      {"gone, then there again", Standing::gone, at_offset(0), Standing::stands},
  }));
  CAPTURE(row.what);
  auto recorded = verified_of(1, "g", false);
  recorded.standing = row.recorded;
  recorded.contested = true;
  recorded.unstable = true;
  recorded.members = {{"seen before", {}, {}, {}}};
  const auto found = decide::verify(result_of(1), &recorded, row.view, Instant{9}, false);
  REQUIRE(found);
  CHECK(found->standing == row.expected);
  CHECK(found->contested);
  CHECK(found->unstable);
  if (row.recorded == Standing::started && row.view.members.empty()) {
    CHECK(found->members == recorded.members);
  }
}

// Done at 2,000.
store::RequestFacts done_facts(const std::vector<Record>& more = {}) {
  std::vector<Record> records{request_of(1), guard_of(request_of(1), Verdict::passed), result_of(1),
                              done_of(1)};
  records.insert(records.end(), more.begin(), more.end());
  return facts_of(1, records);
}

VerificationSituation at_time(std::int64_t now, std::optional<std::int64_t> last_look = {}) {
  VerificationSituation made;
  made.now = Instant{now};
  if (last_look) {
    made.last_look = Instant{*last_look};
  }
  return made;
}

TEST_CASE("looks are at 0, 1, 3, 10 and 30 seconds after the move", "[verify]") {
  struct Row {
    std::int64_t now;
    std::optional<std::int64_t> last_look;
    bool recorded;
    std::optional<std::int64_t> rests_until;  // nothing: it looks
  };
  const auto row = GENERATE(values<Row>({
      {2'000, {}, false, {}},
      {900'000, {}, false, {}},
      {2'001, 2'001, true, 3'000},
      {2'999, 2'001, true, 3'000},
      {3'000, 2'001, true, {}},
      {3'001, 3'001, true, 5'000},
      {5'000, 3'001, true, {}},
      {5'001, 5'001, true, 12'000},
      {12'000, 5'001, true, {}},
      {12'001, 12'001, true, 32'000},
      {32'000, 12'001, true, {}},
      // The last look could not tell: again after a second.
      {32'500, 32'001, true, 33'001},
      {33'001, 32'001, true, {}},
  }));
  CAPTURE(row.now, row.recorded);
  const auto facts = row.recorded ? done_facts({verified_of(1, "g", false)}) : done_facts();
  const auto effect = decide::decide_verification(facts, at_time(row.now, row.last_look));
  if (row.rests_until) {
    REQUIRE(std::holds_alternative<decide::Rest>(effect));
    CHECK(std::get<decide::Rest>(effect).until == Instant{*row.rests_until});
  } else {
    REQUIRE(std::holds_alternative<decide::Look>(effect));
    const auto& look = std::get<decide::Look>(effect);
    CHECK(look.until_stable != row.recorded);
    REQUIRE(look.groups.size() == 1);
    CHECK(look.groups[0].topics == std::vector{TopicSelection{TopicName{"t"}, {0}}});
  }
}

TEST_CASE("the first look, the last one and every change are recorded", "[verify]") {
  struct Row {
    const char* what;
    std::optional<Standing> recorded;
    std::int64_t now;
    port::GroupView view;
    bool writes;
    bool last;
  };
  const auto row = GENERATE_COPY(values<Row>({
      {"first", {}, 2'000, at_offset(0), true, false},
      {"the same", Standing::stands, 3'000, at_offset(0), false, false},
      {"changed", Standing::stands, 3'000, at_offset(9), true, false},
      {"last", Standing::stands, 32'000, at_offset(0), true, true},
      {"first and last", {}, 32'000, at_offset(0), true, true},
      {"cannot tell", {}, 2'000, with_problem(Errc::unreachable), false, false},
      {"cannot tell at the end", Standing::stands, 32'000, with_problem(Errc::retriable), false,
       false},
  }));
  CAPTURE(row.what);
  std::vector<Record> records;
  if (row.recorded) {
    auto verified = verified_of(1, "g", false);
    verified.standing = *row.recorded;
    records.emplace_back(verified);
  }
  const auto observation = seen({row.view});
  auto now = at_time(row.now, row.now);
  now.seen = &observation;
  const auto effect = decide::decide_verification(done_facts(records), now);
  REQUIRE(std::holds_alternative<decide::Write>(effect) == row.writes);
  if (row.writes) {
    const auto& verified = std::get<Verified>(std::get<decide::Write>(effect).records.at(0));
    CHECK(verified.last == row.last);
  } else {
    CHECK(*std::get<decide::Rest>(effect).until > Instant{row.now});
  }
}

TEST_CASE("a group that a later request has moved is looked at no more", "[verify]") {
  auto now = at_time(2'500);
  now.moved_again = {GroupId{"g"}};
  SECTION("never looked at") {
    const auto effect = decide::decide_verification(done_facts(), now);
    const auto& verified = std::get<Verified>(std::get<decide::Write>(effect).records.at(0));
    CHECK(verified.last);
    CHECK(verified.standing == Standing::stands);
  }
  SECTION("what was found stays") {
    auto before = verified_of(1, "g", false);
    before.standing = Standing::superseded;
    const auto effect = decide::decide_verification(done_facts({before}), now);
    const auto& verified = std::get<Verified>(std::get<decide::Write>(effect).records.at(0));
    CHECK(verified.last);
    CHECK(verified.standing == Standing::superseded);
  }
}

TEST_CASE("what is verified, failed or not closed is left alone", "[verify]") {
  const auto records =
      GENERATE(std::vector<Record>{request_of(1)}, std::vector<Record>{done_of(1)},
               std::vector<Record>{result_of(1), done_of(1), verified_of(1, "g", true)},
               std::vector<Record>{failure_of(1, "g", "never"), done_of(1)},
               std::vector<Record>{result_of(1)});
  const auto effect = decide::decide_verification(facts_of(1, records), at_time(900'000));
  REQUIRE(std::holds_alternative<decide::Rest>(effect));
  CHECK_FALSE(std::get<decide::Rest>(effect).until.has_value());
}

TEST_CASE("of several groups each has its own record", "[verify]") {
  const auto facts = facts_of(1, {result_of(1, "a"), result_of(1, "b"), failure_of(1, "c", "never"),
                                  done_of(1), verified_of(1, "a", true)});
  auto effect = decide::decide_verification(facts, at_time(2'000));
  REQUIRE(std::holds_alternative<decide::Look>(effect));
  REQUIRE(std::get<decide::Look>(effect).groups.size() == 1);
  CHECK(std::get<decide::Look>(effect).groups[0].group == GroupId{"b"});
}

}  // namespace
}  // namespace flow::test
