#include <catch2/catch.hpp>

#include "engine/decide/decide.h"
#include "engine/decide/reasons.h"
#include "store/phase.h"
#include "tests/decide/views.h"

// Several groups in one request: they move together or not at all, but for those that never can.
namespace flow::test {
namespace {

using decide::Effect;

// Decides with `views` at each of `times`, applying what is written; returns the last effect.
Effect decide_through(store::RequestFacts& facts, const std::vector<port::GroupView>& views,
                      const std::vector<std::int64_t>& times, bool held = false) {
  const auto observation = seen(views);
  Effect effect;
  for (const auto time : times) {
    auto now = situation(Instant{time});
    now.seen = &observation;
    now.held = held;
    effect = decide::decide(facts, now);
    if (const auto* write = std::get_if<decide::Write>(&effect)) {
      std::int64_t position = time;
      for (const auto& record : write->records) {
        store::apply(facts, key_of(record), at(position++, record).view());
      }
    }
  }
  return effect;
}

std::string outcome_of(const Effect& effect) {
  if (std::holds_alternative<decide::Rest>(effect)) {
    return "rest";
  }
  if (std::holds_alternative<decide::Look>(effect)) {
    return "look";
  }
  std::string text;
  if (const auto* join = std::get_if<decide::Join>(&effect)) {
    text = "join";
    for (const auto& group : join->groups) {
      text += " " + group.group.value();
    }
    return text;
  }
  const auto* move = std::get_if<decide::Move>(&effect);
  const auto& records = move != nullptr ? move->records : std::get<decide::Write>(effect).records;
  text = move != nullptr ? "move" : "write";
  for (const auto& one : move != nullptr ? move->moves : std::vector<port::GroupMove>{}) {
    text += " " + one.group.value();
  }
  for (const auto& record : records) {
    if (const auto* result = std::get_if<GroupResult>(&record);
        result && !result->failure.empty()) {
      text += " failed:" + result->group.value();
    }
    if (const auto* done = std::get_if<Done>(&record)) {
      text += " done:" + std::to_string(static_cast<int>(done->outcome)) + " " + done->reason;
    }
  }
  return text;
}

Request asks(bool atomic, bool hold = false) {
  auto request = request_of(1, {"a", "b", "c"});
  request.options.atomic = atomic;
  request.options.hold = hold;
  return request;
}

const auto ok = [](const char* group) { return view_of(group); };
const auto busy = [](const char* group) { return active_view(group); };
const auto never = [](const char* group) { return missing_view(group); };

TEST_CASE("groups of one request move together", "[groups]") {
  struct Row {
    const char* what;
    bool atomic;
    std::vector<port::GroupView> views;
    std::vector<std::int64_t> times;
    std::string expected;
  };
  const std::string no_b = "no consumer group 'b'; --create-group makes it on purpose";
  const std::string no_c = "no consumer group 'c'; --create-group makes it on purpose";
  const auto row = GENERATE_COPY(values<Row>({
      {"all can", false, {ok("a"), ok("b"), ok("c")}, {5'000}, "move a b c done:0 "},
      {"one waits, all wait", false, {ok("a"), busy("b"), ok("c")}, {5'000, 60'000}, "rest"},
      {"one never can: not before it has stood",
       false,
       {ok("a"), never("b"), ok("c")},
       {5'000, 14'999},
       "rest"},
      {"one never can: the others move",
       false,
       {ok("a"), never("b"), ok("c")},
       {5'000, 15'000},
       "move a c failed:b done:1 1 of 3 group(s) failed"},
      {"one never can, one waits: all wait",
       false,
       {ok("a"), never("b"), busy("c")},
       {5'000, 60'000},
       "rest"},
      {"two never can",
       false,
       {ok("a"), never("b"), never("c")},
       {5'000, 15'000},
       "move a failed:b failed:c done:1 2 of 3 group(s) failed"},
      {"none can",
       false,
       {never("a"), never("b"), never("c")},
       {5'000, 15'000},
       "write failed:a failed:b failed:c done:2 no consumer group 'a'; --create-group makes it on "
       "purpose; " +
           no_b + "; " + no_c},
      {"atomic, one never can: not before it has stood",
       true,
       {ok("a"), never("b"), ok("c")},
       {5'000, 14'999},
       "rest"},
      {"atomic, one never can: refused",
       true,
       {ok("a"), never("b"), ok("c")},
       {5'000, 15'000},
       "write failed:b done:2 " + no_b},
      {"atomic, one never can, one waits: refused",
       true,
       {ok("a"), never("b"), busy("c")},
       {5'000, 15'000},
       "write failed:b done:2 " + no_b},
      {"atomic, all can", true, {ok("a"), ok("b"), ok("c")}, {5'000}, "move a b c done:0 "},
  }));
  CAPTURE(row.what);
  auto facts = facts_of(1, {asks(row.atomic)});
  CHECK(outcome_of(decide_through(facts, row.views, row.times)) == row.expected);
}

TEST_CASE("a second reason that never passes must stand its own ten seconds", "[groups]") {
  for (const bool atomic : {false, true}) {
    auto facts = facts_of(1, {asks(atomic)});
    decide_through(facts, {ok("a"), never("b"), ok("c")}, {5'000, 10'000});
    CHECK(outcome_of(decide_through(facts, {ok("a"), never("b"), never("c")}, {10'000, 16'000})) ==
          "rest");
    const auto effect = decide_through(facts, {ok("a"), never("b"), never("c")}, {20'000});
    CHECK_THAT(outcome_of(effect), Catch::Contains("failed:b failed:c"));
  }
}

TEST_CASE("forty groups that never can are refused, though a record keeps 32 reasons", "[groups]") {
  std::vector<std::string> names;
  std::vector<port::GroupView> views;
  for (int i = 0; i < 40; ++i) {
    names.push_back("g" + std::to_string(i));
    views.push_back(missing_view(names.back()));
  }
  SECTION("all of them") {
    auto facts = facts_of(1, {request_of(1, names)});
    CHECK(outcome_of(decide_through(facts, views, {5'000, 14'000})) == "rest");
    const auto effect = decide_through(facts, views, {15'000});
    CHECK_THAT(outcome_of(effect), Catch::StartsWith("write failed:g0 ") &&
                                       Catch::Contains("failed:g39 done:2") &&
                                       Catch::EndsWith("; and 30 more"));
  }
  SECTION("all but one") {
    views[7] = view_of("g7");
    auto facts = facts_of(1, {request_of(1, names)});
    const auto effect = decide_through(facts, views, {5'000, 15'000});
    CHECK_THAT(outcome_of(effect), Catch::StartsWith("move g7 failed:g0 ") &&
                                       Catch::EndsWith("39 of 40 group(s) failed"));
  }
  SECTION("half of them, and the others have members") {
    for (std::size_t i = 0; i < views.size(); i += 2) {
      views[i] = active_view(names[i]);
    }
    auto facts = facts_of(1, {request_of(1, names)});
    CHECK(outcome_of(decide_through(facts, views, {5'000, 15'000, 60'000})) == "rest");
  }
}

TEST_CASE("a held request joins the groups that can be moved, and moves them while it holds them",
          "[groups]") {
  const auto ours = [](const char* group) {
    auto view = view_of(group);
    view.held_by_us = true;
    return view;
  };
  SECTION("all can") {
    auto facts = facts_of(1, {asks(false, true)});
    // It is accepted first: joining takes the broker's delay, and whoever asks sees what it waits
    // for.
    CHECK(outcome_of(decide_through(facts, {ok("a"), ok("b"), ok("c")}, {5'000})) == "write");
    CHECK(decide::waits_for(facts) ==
          std::vector<std::string>{"its groups are being joined to hold them"});
    CHECK(outcome_of(decide_through(facts, {ok("a"), ok("b"), ok("c")}, {5'000})) == "join a b c");
    CHECK(outcome_of(decide_through(facts, {ours("a"), ours("b"), ours("c")}, {5'000}, true)) ==
          "move a b c done:0 ");
  }
  SECTION("one never can") {
    auto facts = facts_of(1, {asks(false, true)});
    CHECK(outcome_of(decide_through(facts, {ok("a"), never("b"), ok("c")},
                                    {5'000, 15'000, 15'000})) == "join a c");
    CHECK(outcome_of(decide_through(facts, {ours("a"), never("b"), ours("c")}, {15'000}, true)) ==
          "move a c failed:b done:1 1 of 3 group(s) failed");
  }
  SECTION("one was lost meanwhile") {
    auto facts = facts_of(1, {asks(false, true)});
    CHECK(outcome_of(decide_through(facts, {ours("a"), ok("b"), ours("c")}, {5'000}, true)) ==
          "write");
    CHECK(outcome_of(decide_through(facts, {ours("a"), busy("b"), ours("c")}, {5'000}, true)) ==
          "write");
  }
}

TEST_CASE("groups of a request are known for the order among requests", "[groups]") {
  Request request;
  request.id = id_of(1);
  request.pipeline = "cart";
  request.position.kind = PositionKind::earliest;
  port::Topology topology{true, "file", {}, {}};
  CHECK(decide::groups_of(facts_of(1, {request}), topology).empty());
  topology.pipelines = {{"", "cart", {{"s", {{"in", TopicName{"t"}, {}, {}, {}}}}}}};
  CHECK(decide::groups_of(facts_of(1, {request}), topology) == std::vector{GroupId{"cart.s.in"}});
  // Once accepted, the guard record's targets count, whatever the topology says later.
  auto guard = guard_of(request);
  guard.targets = {{GroupId{"was"}, {}, {}, {{TopicName{"t"}, {}}}, {}}};
  CHECK(decide::groups_of(facts_of(1, {request, guard}), topology) == std::vector{GroupId{"was"}});
  CHECK(decide::groups_of(facts_of(1, {request_of(1, {"x", "y"})}), topology).size() == 2);
  CHECK(decide::groups_of(facts_of(1, {cancel_of(1)}), topology).empty());
}

}  // namespace
}  // namespace flow::test
