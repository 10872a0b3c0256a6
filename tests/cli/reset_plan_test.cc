#include <catch2/catch.hpp>

#include "engine/app/cli/reset_plan.h"
#include "schemas/codec.h"

using namespace flow;
using namespace flow::app;

namespace {

const Asking asking{Instant{1'000'000}, "me@here",
                    RequestId{"00000000-0000-4000-8000-000000000001"}};

ResetWords pipeline() {
  ResetWords words;
  words.pipeline = "cart";
  return words;
}

ResetWords group() {
  ResetWords words;
  words.groups = {"g"};
  words.topics = {"t"};
  words.to_earliest = true;
  return words;
}

template <typename Change>
ResetWords with(ResetWords words, Change change) {
  change(words);
  return words;
}

port::Topology topology() {
  port::Topology made{true, "pipelines.yaml", {}, {}};
  const port::Streamlet router{"router", {{"in", TopicName{"t"}, {}, {}, {}}}};
  const port::Streamlet clock{"clock", {}};
  made.pipelines = {{"shop", "cart", {router, clock}},
                    {"lab", "cart", {router}},
                    {"shop", "ticker", {clock}},
                    {"shop", "mail", {router}}};
  return made;
}

Request asked(std::string name, std::string of, std::vector<std::string> streamlets) {
  Request request;
  request.pipeline = std::move(name);
  request.namespace_name = std::move(of);
  request.streamlets = std::move(streamlets);
  return request;
}

}  // namespace

TEST_CASE("the words of a reset become a request") {
  auto words = pipeline();
  words.namespace_name = "shop";
  words.streamlets = {"router", "totals"};
  words.hold = words.atomic = true;
  const auto plan = plan_reset(words, asking);
  REQUIRE(plan);
  const auto& request = plan.value().request;
  CHECK(request.id == asking.fresh_id);
  CHECK(request.asked_at == asking.now);
  CHECK(request.asked_by == "me@here");
  CHECK(request.through == Through::cli);
  CHECK(request.namespace_name == "shop");
  CHECK(request.pipeline == "cart");
  CHECK(request.streamlets == words.streamlets);
  CHECK(request.position.kind == PositionKind::earliest);
  CHECK(request.options == Options{true, true, false, false, false});
  CHECK(request.expires_at == Instant{1'000'000 + 86'400'000});
  CHECK(plan.value().wait_for == WaitFor::nothing);
  CHECK_FALSE(plan.value().own_id);
}

TEST_CASE("groups, topics and partitions") {
  auto words = group();
  words.groups = {"b", "a"};
  words.topics = {"t2:2,0", "t1", "t2:1"};
  const auto plan = plan_reset(words, asking);
  REQUIRE(plan);
  CHECK(plan.value().request.groups == std::vector{GroupId{"b"}, GroupId{"a"}});
  CHECK(plan.value().request.topics ==
        std::vector<TopicSelection>{{TopicName{"t2"}, {0, 1, 2}}, {TopicName{"t1"}, {}}});
}

TEST_CASE("waiting, time-outs and expiry") {
  struct Case {
    const char* wait;
    const char* timeout;
    const char* expire_after;
    WaitFor wait_for;
    std::int64_t timeout_ms;
    std::optional<std::int64_t> expires_at;
  };
  const auto c = GENERATE(values<Case>({
      {"", "", "", WaitFor::nothing, 300'000, 87'400'000},
      {"done", "", "30m", WaitFor::done, 300'000, 2'800'000},
      {"verified", "90s", "PT1H", WaitFor::verified, 90'000, 4'600'000},
      {"done", "1h", "never", WaitFor::done, 3'600'000, std::nullopt},
  }));
  auto words = pipeline();
  words.wait = c.wait;
  words.timeout = c.timeout;
  words.expire_after = c.expire_after;
  const auto plan = plan_reset(words, asking);
  REQUIRE(plan);
  CHECK(plan.value().wait_for == c.wait_for);
  CHECK(plan.value().timeout.value() == c.timeout_ms);
  CHECK(plan.value().request.never_expires == !c.expires_at);
  if (c.expires_at) CHECK(plan.value().request.expires_at == Instant{*c.expires_at});
}

TEST_CASE("the caller's own id, in either case, is the same content however it waits") {
  auto words = pipeline();
  words.id = "1B7C2F0E-9A4D-4D3E-8F55-2F1C0B6E9A71";
  const auto first = plan_reset(words, asking);
  REQUIRE(first);
  CHECK(first.value().own_id);
  CHECK(first.value().request.id.value() == "1b7c2f0e-9a4d-4d3e-8f55-2f1c0b6e9a71");
  words.wait = "done";
  words.expire_after = "1h";
  words.when_stopped = true;
  const auto second = plan_reset(words, {Instant{5}, "you@there", asking.fresh_id});
  CHECK(content_digest(first.value().request) == content_digest(second.value().request));
  words.hold = true;
  const auto other = plan_reset(words, asking);
  CHECK(content_digest(first.value().request) != content_digest(other.value().request));
}

TEST_CASE("words that do not go together, or mean nothing") {
  struct Case {
    ResetWords words;
    const char* problem;
  };
  const auto c = GENERATE(values<Case>({
      {{}, "name what to reset: a PIPELINE, or --group with --topic"},
      {with(group(), [](auto& w) { w.groups.clear(); }), "--topic goes with --group"},
      {with(group(), [](auto& w) { w.pipeline = "p"; }),
       "name a PIPELINE or groups with --group, not both"},
      {with(pipeline(), [](auto& w) { w.topics = {"t"}; }),
       "--topic goes with --group; a PIPELINE's topics are in its topology"},
      {with(group(), [](auto& w) { w.topics.clear(); }),
       "--group needs --topic: name the topics to reset, --topic T or --topic T:0,2"},
      {with(group(), [](auto& w) { w.streamlets = {"s"}; }), "--streamlet goes with a PIPELINE"},
      {with(group(), [](auto& w) { w.namespace_name = "n"; }), "--namespace goes with a PIPELINE"},
      {with(group(), [](auto& w) { w.to_earliest = false; }),
       "--group needs a position: --to-earliest"},
      {with(group(),
            [](auto& w) {
              w.groups = {"a", "a"};
            }),
       "--group: 'a' is given twice"},
      {with(group(), [](auto& w) { w.groups = {""}; }), "--group: '' is empty"},
      {with(group(), [](auto& w) { w.groups = {"\xff"}; }), "--group: '\xff' is not UTF-8 text"},
      {with(pipeline(),
            [](auto& w) {
              w.streamlets = {"s", "s"};
            }),
       "--streamlet: 's' is given twice"},
      {with(group(), [](auto& w) { w.topics = {"a/b"}; }),
       "--topic: 'a/b' is no topic name (letters, digits, '.', '_' and '-', at most 249)"},
      {with(group(), [](auto& w) { w.topics = {"t:"}; }),
       "--topic: 't:': '' is no partition number; write TOPIC or TOPIC:0,2"},
      {with(group(), [](auto& w) { w.topics = {"t:0,"}; }),
       "--topic: 't:0,': '' is no partition number; write TOPIC or TOPIC:0,2"},
      {with(group(), [](auto& w) { w.topics = {"t:-1"}; }),
       "--topic: 't:-1': '-1' is no partition number; write TOPIC or TOPIC:0,2"},
      {with(group(), [](auto& w) { w.topics = {"t:-0"}; }),
       "--topic: 't:-0': '-0' is no partition number; write TOPIC or TOPIC:0,2"},
      {with(group(), [](auto& w) { w.topics = {"t:0-2"}; }),
       "--topic: 't:0-2': '0-2' is no partition number; write TOPIC or TOPIC:0,2"},
      {with(group(), [](auto& w) { w.topics = {"t:99999999999"}; }),
       "--topic: 't:99999999999': '99999999999' is no partition number; write TOPIC or TOPIC:0,2"},
      {with(group(), [](auto& w) { w.topics = {"t:1,1"}; }),
       "--topic: 't:1,1': a partition is given twice"},
      {with(group(),
            [](auto& w) {
              w.topics = {"t:1", "t:1"};
            }),
       "--topic: a partition of 't' is given twice"},
      {with(group(),
            [](auto& w) {
              w.topics = {"t", "t:1"};
            }),
       "--topic: 't' is given twice"},
      {with(pipeline(), [](auto& w) { w.wait = "soon"; }),
       "--wait: 'soon' is not known; write --wait or --wait=verified"},
      {with(pipeline(), [](auto& w) { w.timeout = "1m"; }), "--timeout goes with --wait"},
      {with(pipeline(), [](auto& w) { w.wait = "done", w.timeout = "1"; }),
       "--timeout: '1' is no duration: its unit is missing; write for example 90s, 30m, 24h, 7d or "
       "P1DT12H"},
      {with(pipeline(), [](auto& w) { w.expire_after = "-1h"; }),
       "--expire-after: '-1h' is no duration: it is negative; write for example 90s, 30m, 24h, 7d "
       "or "
       "P1DT12H"},
      {with(pipeline(), [](auto& w) { w.id = "x"; }),
       "--id: 'x' is no UUID (8-4-4-4-12 hexadecimal digits, as uuidgen prints)"},
  }));
  const auto plan = plan_reset(c.words, asking);
  REQUIRE_FALSE(plan);
  CHECK(plan.error().errc == Errc::invalid);
  CHECK(plan.error().detail == c.problem);
}

TEST_CASE("names are checked against a topology, in the words of the design") {
  struct Case {
    Request request;
    const char* problem;
  };
  const auto c = GENERATE(values<Case>({
      {asked("bart", "shop", {}),
       "no pipeline 'bart' in namespace 'shop'; topology 'pipelines.yaml': did you mean 'cart -n "
       "shop'?"},
      {asked("bart", "", {}),
       "no pipeline 'bart'; topology 'pipelines.yaml': did you mean 'cart'?"},
      {asked("basket", "", {}),
       "no pipeline 'basket'; topology 'pipelines.yaml': known are: cart, mail, ticker"},
      {asked("mail", "lab", {}),
       "no pipeline 'mail' in namespace 'lab'; topology 'pipelines.yaml': known are: cart -n lab, "
       "cart -n shop, mail -n shop, ticker -n shop"},
      {asked("cart", "shop", {"routr"}),
       "cannot reset offsets: no streamlet [routr]; did you mean 'router'?"},
      {asked("cart", "shop", {"router", "x"}),
       "cannot reset offsets: no streamlet [x]; known are: router, clock"},
      {asked("cart", "shop", {"clock"}),
       "cannot reset offsets: streamlet [clock] has no inlets, so no consumer groups to reset"},
      {asked("ticker", "shop", {}), "pipeline ticker has no streamlets with inlets to reset"},
      {asked("cart", "", {}),
       "pipeline 'cart' is in several namespaces: 'shop', 'lab'; name one with -n"},
  }));
  CAPTURE(c.problem);
  const auto resolved = resolve_names(c.request, topology());
  REQUIRE_FALSE(resolved);
  CHECK(resolved.error().errc == Errc::refused);
  CHECK(resolved.error().detail == c.problem);
}

TEST_CASE("a pipeline of one namespace needs none") {
  const auto resolved = resolve_names(asked("mail", "", {}), topology());
  REQUIRE(resolved);
  REQUIRE(resolved.value().size() == 1);
  CHECK(resolved.value()[0].group == GroupId{"mail.router.in"});
}

TEST_CASE("what was asked for, in words") {
  auto request = plan_reset(group(), asking).value().request;
  CHECK(asked_for(request) == "group 'g'");
  request.groups.emplace_back("h");
  CHECK(asked_for(request) == "2 groups");
  CHECK(asked_for(plan_reset(pipeline(), asking).value().request) == "'cart'");
}
