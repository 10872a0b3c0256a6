#include "engine/decide/resolve.h"

#include <catch2/catch.hpp>

#include "tests/decide/views.h"

namespace flow::test {
namespace {

port::Inlet inlet(const std::string& name, const std::string& topic,
                  std::optional<std::string> group = {}) {
  port::Inlet made;
  made.name = name;
  made.topic = TopicName{topic};
  if (group) {
    made.group = GroupId{*group};
  }
  return made;
}

port::Topology shop() {
  port::Topology topology;
  topology.whole = true;
  topology.pipelines = {
      {"shop",
       "cart",
       {{"router", {inlet("in", "cart-events")}},
        {"totals", {inlet("a", "x", "shared"), inlet("b", "y", "shared"), inlet("c", "z")}},
        {"source", {}}}},
      {"shop", "empty", {{"source", {}}}},
      {"one", "twice", {{"s", {inlet("in", "t")}}}},
      {"two", "twice", {{"s", {inlet("in", "t")}}}},
      {"", "anywhere", {{"s", {inlet("in", "t")}}}},
      {"shop", "bad", {{"s", {inlet("in", "t", "\xff")}}}},
      {"shop", "bad2", {{"s", {inlet("in", "")}}}},
  };
  return topology;
}

Request of(const std::string& pipeline, const std::string& namespace_name = "shop",
           std::vector<std::string> streamlets = {}) {
  Request request;
  request.id = id_of(1);
  request.pipeline = pipeline;
  request.namespace_name = namespace_name;
  request.streamlets = std::move(streamlets);
  return request;
}

std::string text_of(const decide::Resolution& resolution) {
  std::string text;
  for (const auto& target : resolution.targets) {
    text += (text.empty() ? "" : " ") + target.group.value() + "=";
    for (const auto& topic : target.topics) {
      text += topic.name.value();
      for (const auto partition : topic.partitions) {
        text += ":" + std::to_string(partition);
      }
      text += ",";
    }
  }
  return text;
}

TEST_CASE("a pipeline's groups and topics come from the topology", "[resolve]") {
  const auto [request, expected] = GENERATE(table<Request, std::string>({
      {of("cart"), "cart.router.in=cart-events, shared=x,y, cart.totals.c=z,"},
      {of("cart", ""), "cart.router.in=cart-events, shared=x,y, cart.totals.c=z,"},
      {of("cart", "shop", {"router"}), "cart.router.in=cart-events,"},
      {of("cart", "shop", {"totals", "router"}),
       "shared=x,y, cart.totals.c=z, cart.router.in=cart-events,"},
      {of("cart", "shop", {"router", "router"}), "cart.router.in=cart-events,"},
      {of("twice", "two"), "twice.s.in=t,"},
      {of("anywhere", "whatever"), "anywhere.s.in=t,"},
  }));
  const auto found = decide::resolve(request, shop());
  CHECK(found.problem.empty());
  CHECK_FALSE(found.permanent);
  CHECK(text_of(found) == expected);
}

TEST_CASE("what names nothing is told in the words that users know", "[resolve]") {
  const auto [request, problem] = GENERATE(table<Request, std::string>({
      {of("nope"), "no pipeline 'nope' in namespace 'shop'"},
      {of("nope", ""), "no pipeline 'nope'"},
      {of("cart", "other"), "no pipeline 'cart' in namespace 'other'"},
      {of("twice", ""), "pipeline 'twice' is in 2 namespaces; name one (-n)"},
      {of("cart", "shop", {"nope"}), "cannot reset offsets: no streamlet [nope]"},
      {of("cart", "shop", {"nope", "router", "no"}),
       "cannot reset offsets: no streamlet [nope], [no]"},
      {of("cart", "shop", {"source"}),
       "cannot reset offsets: streamlet [source] has no inlets, so no consumer groups to reset"},
      {of("cart", "shop", {"source", "nope"}), "cannot reset offsets: no streamlet [nope]"},
      {of("empty"), "pipeline empty has no streamlets with inlets to reset"},
      {of("bad"), "streamlet [s]: '\xef\xbf\xbd' is no name of a group"},
      {of("bad2"), "bad2.s.in: '' is no name of a topic"},
  }));
  CAPTURE(problem);
  auto topology = shop();
  const auto found = decide::resolve(request, topology);
  CHECK(found.problem == problem);
  CHECK(found.permanent);
  CHECK(found.targets.empty());

  // On a topology that was not read whole it may still come.
  topology.whole = false;
  topology.problem = "pipelines.yaml: line 3: no name";
  const auto later = decide::resolve(request, topology);
  CHECK(later.problem == problem + " (pipelines.yaml: line 3: no name)");
  CHECK_FALSE(later.permanent);
}

TEST_CASE("groups that a request names stand for themselves", "[resolve]") {
  auto request = request_of(1, {"a", "b", "a"});
  request.topics = {{TopicName{"t"}, {2, 0, 2}},
                    {TopicName{"u"}, {}},
                    {TopicName{"t"}, {1}},
                    {TopicName{"u"}, {5}}};
  CHECK(text_of(decide::resolve(request, no_topology())) == "a=t:0:1:2,u, b=t:0:1:2,u,");
}

TEST_CASE("a request that can never mean anything is refused whatever the world", "[resolve]") {
  const auto with = [](auto change) {
    auto request = request_of(1);
    change(request);
    return request;
  };
  const auto [request, problem] = GENERATE_COPY(table<Request, std::string>({
      {request_of(1), ""},
      {of("cart"), ""},
      {with([](Request& r) { r.pipeline = "cart"; }),
       "a request names a pipeline, or groups and topics, not both"},
      {with([](Request& r) {
         r.pipeline = "cart";
         r.groups.clear();
       }),
       "a request names a pipeline, or groups and topics, not both"},
      {with([](Request& r) { r.groups.clear(); }),
       "a request names a pipeline, or groups and topics; this one names neither"},
      {with([](Request& r) { r.topics.clear(); }),
       "a request that names groups names their topics too; this one names none"},
      {with([](Request& r) { r.streamlets = {"s"}; }),
       "streamlets belong to a pipeline; this request names none"},
      {with([](Request& r) { r.groups.emplace_back(""); }), "a group's name is empty"},
      {with([](Request& r) { r.topics[0].name = TopicName{""}; }), "a topic's name is empty"},
      {with([](Request& r) {
         r.topics[0].partitions = {0, -1};
       }),
       "topic 't': partition -1 is negative"},
  }));
  CHECK(decide::content_problem(request) == problem);
}

TEST_CASE("every position has a name, and only earliest is carried out", "[resolve]") {
  for (int kind = 0; kind <= static_cast<int>(PositionKind::file); ++kind) {
    Position position;
    position.kind = static_cast<PositionKind>(kind);
    CHECK(decide::to_string(position.kind) != "unknown");
    CHECK(decide::is_supported(position) == (position.kind == PositionKind::earliest));
  }
}

}  // namespace
}  // namespace flow::test
