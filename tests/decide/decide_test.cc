#include "engine/decide/decide.h"

#include <catch2/catch.hpp>

#include "engine/decide/reasons.h"
#include "engine/decide/records.h"
#include "schemas/codec.h"
#include "store/phase.h"
#include "tests/decide/views.h"

namespace flow::test {
namespace {

using decide::Effect;
using decide::Look;
using decide::Move;
using decide::Rest;
using decide::Write;

const auto found_empty = [] { return seen({view_of("g")}); };

TEST_CASE("a request that can go on looks, then moves", "[decide]") {
  const auto facts = facts_of(1, {request_of(1)});
  auto now = situation();
  const auto look = decide::decide(facts, now);
  REQUIRE(std::holds_alternative<Look>(look));
  CHECK(std::get<Look>(look).groups.size() == 1);
  CHECK(std::get<Look>(look).groups[0].group == GroupId{"g"});
  CHECK_FALSE(std::get<Look>(look).until_stable);

  auto observation = seen({view_of("g"), view_of("another request's")});
  observation.groups[0].partitions = {partition(0, 7, 3, 100), partition(1, {}, 0, 0)};
  now.seen = &observation;
  const auto effect = decide::decide(facts, now);
  REQUIRE(std::holds_alternative<Move>(effect));
  const auto& move = std::get<Move>(effect);
  REQUIRE(move.records.size() == 3);

  const auto& guard = guard_in(effect);
  CHECK(guard.verdict == Verdict::passed);
  CHECK(guard.digest == content_digest(request_of(1)));
  REQUIRE(guard.request);
  CHECK(guard.request->expires_at == Instant{1'000} + decide::default_expiry);
  REQUIRE(guard.seen);
  CHECK(guard.seen->groups.size() == 1);

  const auto& result = std::get<GroupResult>(move.records[1]);
  CHECK(result.leader == LeaderNumber{9});
  CHECK(result.failure.empty());
  REQUIRE(result.moves.size() == 2);
  CHECK(result.moves[0].before == Committed{7, {}});
  CHECK(result.moves[0].after == Committed{3, {}});
  CHECK_FALSE(result.moves[1].before.has_value());
  CHECK(result.moves[1].after == Committed{0, {}});
  CHECK(result.moves[1].remark == "empty");
  CHECK(result.identities.at(0).partitions.size() == 2);

  const auto done = done_in(effect);
  CHECK(done.outcome == DoneOutcome::completed);
  CHECK(done.leader == LeaderNumber{9});
  CHECK(done.engine == "e1");
  CHECK(done.at == now.now);

  REQUIRE(move.moves.size() == 1);
  CHECK(move.moves[0].commits.size() == 2);
  CHECK(move.moves[0].commits[0].offset == 3);
  REQUIRE(move.moves[0].before.size() == 2);
  CHECK(move.moves[0].before[0].committed == Committed{7, {}});
  CHECK_FALSE(move.moves[0].before[1].committed.has_value());

  CHECK(store::phase_of(applied(facts, effect)) == store::Phase::closed);
}

TEST_CASE("each phase has its answer", "[decide]") {
  struct Row {
    const char* what;
    std::vector<Record> records;
    bool rests;
  };
  const auto row = GENERATE(values<Row>({
      {"unknown", {cancel_of(1)}, true},
      {"requested", {request_of(1)}, false},
      {"waiting", {request_of(1), guard_of(request_of(1))}, false},
      {"moving", {request_of(1), guard_of(request_of(1)), intent_of(1)}, true},
      {"closed", {request_of(1), done_of(1)}, true},
      {"closed though cancelled", {request_of(1), done_of(1), cancel_of(1)}, true},
      {"damaged", {request_of(1), result_of(1)}, true},
      {"damaged though cancelled", {request_of(1), result_of(1), cancel_of(1)}, true},
      {"damaged though expired",
       {request_of(1, {"g"}, Instant{-90'000'000}), guard_of(request_of(1), Verdict::closed)},
       true},
  }));
  CAPTURE(row.what);
  const auto effect = decide::decide(facts_of(1, row.records), situation());
  CHECK(std::holds_alternative<Rest>(effect) == row.rests);
  if (row.rests) {
    CHECK_FALSE(std::get<Rest>(effect).until.has_value());
  }
}

TEST_CASE("what ends a request before it is looked at, by precedence", "[decide]") {
  auto expired = request_of(1);
  expired.expires_at = Instant{5'000};
  auto senseless = request_of(1);
  senseless.topics.clear();
  auto both = senseless;
  both.expires_at = Instant{5'000};
  struct Row {
    const char* what;
    std::vector<Record> records;
    DoneOutcome outcome;
    const char* reason;
  };
  auto nobody = cancel_of(1);
  nobody.asked_by = {};
  const auto row = GENERATE_COPY(values<Row>({
      {"cancelled", {request_of(1), cancel_of(1)}, DoneOutcome::cancelled, "cancelled by someone"},
      {"cancelled by nobody", {nobody, request_of(1)}, DoneOutcome::cancelled, "cancelled"},
      {"cancelled and expired",
       {both, cancel_of(1)},
       DoneOutcome::cancelled,
       "cancelled by someone"},
      {"expired", {expired}, DoneOutcome::expired, "its time was up"},
      {"expired while it waited",
       {expired,
        [&] {
          auto guard = guard_of(expired);
          guard.reasons = {{"a", Instant{1}, Instant{2}, {}, false},
                           {"b", Instant{1}, {}, {}, false},
                           {"c", Instant{1}, {}, {}, false}};
          return guard;
        }()},
       DoneOutcome::expired,
       "its time was up while it waited: b; c"},
      {"expired and senseless", {both}, DoneOutcome::expired, "its time was up"},
      {"senseless",
       {senseless},
       DoneOutcome::refused,
       "a request that names groups names their topics too; this one names none"},
  }));
  CAPTURE(row.what);
  const auto facts = facts_of(1, row.records);
  const auto effect = decide::decide(facts, situation());
  REQUIRE(std::holds_alternative<Write>(effect));
  CHECK(done_in(effect).outcome == row.outcome);
  CHECK(done_in(effect).reason == row.reason);
  CHECK(guard_in(effect).verdict == Verdict::closed);
  for (const auto& reason : guard_in(effect).reasons) {
    CHECK(reason.until.has_value());
  }
  CHECK(store::phase_of(applied(facts, effect)) == store::Phase::closed);
}

TEST_CASE("a request expires when it says, or 24 hours after it was asked", "[decide]") {
  struct Row {
    const char* what;
    std::optional<Instant> asked_at;
    std::optional<Instant> expires_at;
    bool never;
    std::int64_t stamp;
    std::optional<Instant> expected;
  };
  constexpr std::int64_t day = 24 * 3'600 * 1'000;
  constexpr auto far = std::numeric_limits<std::int64_t>::max();
  const auto row = GENERATE_COPY(values<Row>({
      {"it says", Instant{5}, Instant{9}, false, 7, Instant{9}},
      {"asked", Instant{5}, {}, false, 7, Instant{5 + day}},
      {"the record's time", {}, {}, false, 7, Instant{7 + day}},
      {"the asker's clock is ahead", Instant{far}, {}, false, 7, Instant{7 + day}},
      {"no time at all", Instant{5}, {}, false, -1, Instant{5 + day}},
      {"never", Instant{5}, Instant{9}, true, 7, std::nullopt},
      {"both ahead", Instant{far}, {}, false, far, Instant{far}},
  }));
  CAPTURE(row.what);
  auto request = request_of(1);
  request.asked_at = row.asked_at;
  request.expires_at = row.expires_at;
  request.never_expires = row.never;
  auto record = at(0, request);
  record.timestamp = row.stamp;
  store::RequestFacts facts;
  facts.id = id_of(1);
  store::apply(facts, key_of(request), record.view());
  CHECK(decide::effective_request(facts)->expires_at == row.expected);
}

TEST_CASE("only what the guard record accepted is carried out", "[decide]") {
  auto other = request_of(1, {"other"});
  other.options.hold = true;
  const auto facts = facts_of(1, {request_of(1), guard_of(request_of(1)), other});
  auto now = situation();
  const auto look = decide::decide(facts, now);
  REQUIRE(std::holds_alternative<Look>(look));
  CHECK(std::get<Look>(look).groups[0].group == GroupId{"g"});
  const auto observation = found_empty();
  now.seen = &observation;
  const auto effect = decide::decide(facts, now);
  REQUIRE(std::holds_alternative<Move>(effect));
  CHECK(guard_in(effect).request->groups == std::vector{GroupId{"g"}});
  CHECK(guard_in(effect).digest == content_digest(request_of(1)));
}

TEST_CASE("what waits says why, once, and looks again every second", "[decide]") {
  auto facts = facts_of(1, {request_of(1)});
  auto now = situation();
  const auto busy = seen({active_view("g")});
  now.seen = &busy;
  auto effect = decide::decide(facts, now);
  REQUIRE(std::holds_alternative<Write>(effect));
  CHECK(std::get<Write>(effect).records.size() == 1);
  const auto& guard = guard_in(effect);
  CHECK(guard.verdict == Verdict::waiting);
  REQUIRE(guard.reasons.size() == 1);
  CHECK(guard.reasons[0].since == now.now);
  CHECK(guard.targets.size() == 1);
  REQUIRE(guard.seen);
  CHECK(guard.seen->groups[0].members.size() == 1);
  facts = applied(facts, effect);
  CHECK(store::phase_of(facts) == store::Phase::waiting);
  CHECK(decide::waits_for(facts) ==
        std::vector<std::string>{"g has 1 member(s): consumer at /10.0.0.1"});

  now.now = Instant{6'000};
  effect = decide::decide(facts, now);
  REQUIRE(std::holds_alternative<Rest>(effect));
  CHECK(std::get<Rest>(effect).until == Instant{7'000});

  const auto other = seen({active_view("g", "another")});
  now.seen = &other;
  effect = decide::decide(facts, now);
  REQUIRE(std::holds_alternative<Write>(effect));
  CHECK(guard_in(effect).reasons.size() == 2);
  CHECK(guard_in(effect).reasons[0].until == Instant{6'000});

  const auto empty = found_empty();
  now.seen = &empty;
  CHECK(std::holds_alternative<Move>(decide::decide(facts, now)));
}

TEST_CASE("what keeps failing is told once, and tried again", "[decide]") {
  auto facts = facts_of(1, {request_of(1)});
  auto now = situation();
  const auto empty = found_empty();
  now.seen = &empty;
  now.failing = "group 'g' has a member that nobody names";
  const auto effect = decide::decide(facts, now);
  REQUIRE(std::holds_alternative<Write>(effect));
  facts = applied(facts, effect);
  CHECK(decide::waits_for(facts) ==
        std::vector<std::string>{"group 'g' has a member that nobody names; it is tried again"});
  CHECK(std::holds_alternative<Move>(decide::decide(facts, now)));

  now.held = true;
  auto held = request_of(1);
  held.options.hold = true;
  auto ours = view_of("g");
  ours.held_by_us = true;
  const auto holding = seen({ours});
  now.seen = &holding;
  CHECK(std::holds_alternative<Move>(decide::decide(facts_of(1, {held}), now)));
}

TEST_CASE("what waits unseen waits without looking", "[decide]") {
  auto facts = facts_of(1, {request_of(1)});
  auto now = situation();
  std::string why;
  SECTION("behind another request") {
    now.behind = id_of(2);
    why = "behind " + id_of(2).value() +
          ", which names one of its groups and came first; see: flow history " + id_of(2).value();
  }
  SECTION("a broker that does not check guarded commits") {
    now.guard = port::GuardSupport::unchecked;
    why = "this broker does not check guarded commits; ask again with --hold";
  }
  SECTION("a position of a newer engine") {
    auto request = request_of(1);
    request.position.kind = PositionKind::latest;
    facts = facts_of(1, {request});
    why = "position 'latest' needs a newer engine";
  }
  SECTION("a group on another cluster") {
    auto guard = guard_of(request_of(1));
    guard.targets[0].cluster = "east";
    facts = facts_of(1, {request_of(1), guard});
    why =
        "g is on Kafka cluster 'east'; this engine moves groups of the control topic's own "
        "cluster only";
  }
  const auto observation = found_empty();
  now.seen = &observation;
  const auto effect = decide::decide(facts, now);
  REQUIRE(std::holds_alternative<Write>(effect));
  CHECK(decide::waits_for(applied(facts, effect)) == std::vector{why});
  // It rests until it expires, or is woken.
  const auto rest = decide::decide(applied(facts, effect), now);
  REQUIRE(std::holds_alternative<Rest>(rest));
  CHECK(std::get<Rest>(rest).until == Instant{1'000} + decide::default_expiry);
}

TEST_CASE("a held request goes on with a broker that checks nothing", "[decide]") {
  auto request = request_of(1);
  request.options.hold = true;
  auto now = situation();
  now.guard = port::GuardSupport::unchecked;
  CHECK(std::holds_alternative<Look>(decide::decide(facts_of(1, {request}), now)));
}

TEST_CASE("a reason that cannot pass refuses once it has stood for ten seconds", "[decide]") {
  const auto missing = seen({missing_view("g")});
  auto facts = facts_of(1, {request_of(1)});
  auto now = situation(Instant{5'000});
  now.seen = &missing;
  auto effect = decide::decide(facts, now);
  REQUIRE(std::holds_alternative<Write>(effect));
  CHECK(guard_in(effect).reasons.at(0).permanent);
  facts = applied(facts, effect);

  now.now = Instant{14'500};
  effect = decide::decide(facts, now);
  REQUIRE(std::holds_alternative<Rest>(effect));
  CHECK(std::get<Rest>(effect).until == Instant{15'000});

  SECTION("it stood") {
    now.now = Instant{15'000};
    effect = decide::decide(facts, now);
    REQUIRE(std::holds_alternative<Write>(effect));
    CHECK(done_in(effect).outcome == DoneOutcome::refused);
    CHECK(done_in(effect).reason == "no consumer group 'g'; --create-group makes it on purpose");
    const auto& records = std::get<Write>(effect).records;
    REQUIRE(records.size() == 3);
    CHECK(std::get<GroupResult>(records[1]).failure == done_in(effect).reason);
    CHECK(store::phase_of(applied(facts, effect)) == store::Phase::closed);
  }
  SECTION("it went away") {
    const auto empty = found_empty();
    now.seen = &empty;
    CHECK(std::holds_alternative<Move>(decide::decide(facts, now)));
  }
  SECTION("it went away and came again: the time begins anew") {
    const auto busy = seen({active_view("g")});
    now.seen = &busy;
    facts = applied(facts, decide::decide(facts, now));
    now.seen = &missing;
    facts = applied(facts, decide::decide(facts, now));
    now.now = Instant{16'000};
    CHECK(std::holds_alternative<Rest>(decide::decide(facts, now)));
    now.now = Instant{24'500};
    CHECK(done_in(decide::decide(facts, now)).outcome == DoneOutcome::refused);
  }
}

TEST_CASE("names that a topology does not have refuse only on one that was read whole",
          "[decide]") {
  Request request;
  request.id = id_of(1);
  request.asked_at = Instant{1'000};
  request.pipeline = "cart";
  request.namespace_name = "shop";
  request.position.kind = PositionKind::earliest;
  auto facts = facts_of(1, {request});
  port::Topology topology{false, "pipelines.yaml", "line 1: broken", {}};
  auto now = situation();
  now.topology = &topology;
  auto effect = decide::decide(facts, now);
  facts = applied(facts, effect);
  CHECK_FALSE(guard_in(effect).reasons.at(0).permanent);
  now.now = Instant{500'000};
  effect = decide::decide(facts, now);
  REQUIRE(std::holds_alternative<Rest>(effect));
  CHECK(std::get<Rest>(effect).until == Instant{501'000});

  topology = {true, "pipelines.yaml", {}, {}};
  facts = applied(facts, decide::decide(facts, now));
  now.now = Instant{509'999};
  CHECK(std::holds_alternative<Rest>(decide::decide(facts, now)));
  now.now = Instant{510'000};
  effect = decide::decide(facts, now);
  CHECK(done_in(effect).outcome == DoneOutcome::refused);
  CHECK(done_in(effect).reason == "no pipeline 'cart' in namespace 'shop'");

  // It appears in time.
  topology.pipelines = {{"shop", "cart", {{"router", {{"in", TopicName{"t"}, {}, {}, {}}}}}}};
  effect = decide::decide(facts, now);
  REQUIRE(std::holds_alternative<Look>(effect));
  CHECK(std::get<Look>(effect).groups.at(0).group == GroupId{"cart.router.in"});
}

TEST_CASE("what was seen with other topics is looked at again", "[decide]") {
  auto now = situation();
  auto observation = found_empty();
  observation.groups[0].partitions[0].at.topic = TopicName{"another"};
  now.seen = &observation;
  CHECK(std::holds_alternative<Look>(decide::decide(facts_of(1, {request_of(1)}), now)));
}

TEST_CASE("a request whose records no broker would take is refused", "[decide]") {
  auto now = situation();
  auto request = request_of(1);
  SECTION("its guard record") {
    request.asked_by = std::string(decide::written_bytes_max, 'x');
    const auto effect = decide::decide(facts_of(1, {request}), now);
    CHECK(std::holds_alternative<Look>(effect));
    auto busy = seen({active_view("g")});
    now.seen = &busy;
    const auto refused = decide::decide(facts_of(1, {request}), now);
    CHECK(done_in(refused).outcome == DoneOutcome::refused);
    CHECK_THAT(done_in(refused).reason, Catch::StartsWith("it is too large: one of its records"));
    CHECK_FALSE(guard_in(refused).request.has_value());
    CHECK(decide::largest_record(refused) < decide::written_bytes_max);
  }
  SECTION("a group's result") {
    auto wide = seen({view_of("g")});
    wide.groups[0].partitions.clear();
    for (int i = 0; i < 20'000; ++i) {
      wide.groups[0].partitions.push_back(partition(i, 5));
    }
    now.seen = &wide;
    const auto refused = decide::decide(facts_of(1, {request}), now);
    CHECK(done_in(refused).outcome == DoneOutcome::refused);
    REQUIRE(guard_in(refused).request.has_value());
    CHECK(decide::largest_record(refused) < decide::written_bytes_max);
  }
}

TEST_CASE("the same facts and situation give the same effect", "[decide]") {
  const auto facts = facts_of(1, {request_of(1, {"b", "a"})});
  auto now = situation();
  const auto observation = seen({view_of("a"), view_of("b")});
  now.seen = &observation;
  const auto one = std::get<Move>(decide::decide(facts, now));
  const auto two = std::get<Move>(decide::decide(facts, now));
  CHECK(one.records == two.records);
  CHECK(one.moves.at(0).group == GroupId{"b"});
}

}  // namespace
}  // namespace flow::test
