#include "engine/decide/reasons.h"

#include <catch2/catch.hpp>

#include "tests/decide/views.h"

namespace flow::test {
namespace {

using decide::Holding;

std::string text_of(const std::vector<Reason>& reasons) {
  std::string text;
  for (const auto& reason : reasons) {
    text += reason.text + "@" + std::to_string(reason.since.value()) +
            (reason.until ? "-" + std::to_string(reason.until->value()) : "") + " ";
  }
  return text;
}

TEST_CASE("reasons keep their beginning, get their end, and come again as new ones", "[reasons]") {
  auto recorded = decide::merge_reasons({}, {{"a", {}, false}, {"b", {}, false}}, Instant{1});
  CHECK(text_of(recorded) == "a@1 b@1 ");
  recorded = decide::merge_reasons(recorded, {{"b", {}, false}}, Instant{2});
  CHECK(text_of(recorded) == "a@1-2 b@1 ");
  recorded = decide::merge_reasons(recorded, {{"b", {}, false}, {"a", {}, false}}, Instant{3});
  CHECK(text_of(recorded) == "a@1-2 b@1 a@3 ");
  recorded = decide::merge_reasons(recorded, {}, Instant{4});
  CHECK(text_of(recorded) == "a@1-2 b@1-4 a@3-4 ");
}

TEST_CASE("a reason is another one for another group, or when it becomes permanent", "[reasons]") {
  auto recorded = decide::merge_reasons({}, {{"a", GroupId{"g"}, false}}, Instant{1});
  recorded = decide::merge_reasons(recorded, {{"a", GroupId{"h"}, false}}, Instant{2});
  recorded = decide::merge_reasons(recorded, {{"a", GroupId{"h"}, true}}, Instant{3});
  CHECK(text_of(recorded) == "a@1-2 a@2-3 a@3 ");
}

TEST_CASE("the last 32 reasons are kept, ended ones go first", "[reasons]") {
  std::vector<Reason> recorded;
  for (int i = 0; i < 40; ++i) {
    recorded = decide::merge_reasons(
        recorded, {{"stays", {}, false}, {std::to_string(i), {}, false}}, Instant{i});
  }
  REQUIRE(recorded.size() == decide::reasons_kept);
  CHECK(recorded.front().text == "stays");
  CHECK(recorded.front().since == Instant{0});
  CHECK(recorded[1].text == "9");
  CHECK(recorded.back().text == "39");
}

TEST_CASE("a record says the same while the same reasons hold", "[reasons]") {
  const std::vector<Holding> two{{"a", {}, false}, {"b", {}, false}};
  const auto recorded = decide::merge_reasons({}, two, Instant{1});
  CHECK(decide::says_the_same(recorded, two));
  CHECK(decide::says_the_same(recorded, {two[1], two[0]}));
  CHECK(decide::says_the_same(recorded, {two[0], two[1], two[0]}));
  CHECK_FALSE(decide::says_the_same(recorded, {two[0]}));
  CHECK_FALSE(decide::says_the_same(recorded, {two[0], two[1], {"c", {}, false}}));
  CHECK_FALSE(decide::says_the_same(recorded, {}));
  CHECK(decide::says_the_same({}, {}));
  CHECK(decide::stands_since(recorded, two[0]) == Instant{1});
  CHECK_FALSE(decide::stands_since(recorded, {"c", {}, false}));
  const auto ended = decide::merge_reasons(recorded, {two[1]}, Instant{2});
  CHECK_FALSE(decide::stands_since(ended, two[0]));
}

TEST_CASE("more reasons than a record keeps are said together, each of them somewhere",
          "[reasons]") {
  const auto [permanent, passing] = GENERATE(table<int, int>(
      {{0, 0}, {1, 0}, {32, 0}, {33, 0}, {0, 33}, {16, 17}, {17, 16}, {1, 100}, {500, 500}}));
  std::vector<Holding> all;
  for (int i = 0; i < permanent + passing; ++i) {
    const std::string group = "g" + std::to_string(i);
    all.push_back(
        {"why " + group, GroupId{group}, i % 2 == 0 ? i / 2 < permanent : i / 2 >= passing});
  }
  const auto count = std::count_if(all.begin(), all.end(), [](auto& one) { return one.permanent; });
  const auto folded = decide::fold(all);
  CAPTURE(permanent, passing, count);
  CHECK(folded.said.size() <= decide::reasons_kept);
  REQUIRE(folded.said_by.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& said = folded.said.at(folded.said_by[i]);
    CHECK(said.permanent == all[i].permanent);
    const bool alone = said.text == all[i].text && said.group == all[i].group;
    CHECK((alone || said.text.starts_with("and ")));
  }
  // Said once, they stay said: no record is written again while nothing changes.
  const auto recorded = decide::merge_reasons({}, folded.said, Instant{1});
  CHECK(decide::says_the_same(recorded, decide::fold(all).said));
}

struct Row {
  const char* what;
  port::GroupView view;
  Request request;
  decide::Situation situation;
  std::string text;  // empty: it passes
  bool permanent;
};

port::GroupView changed(port::GroupView view, auto change) {
  change(view);
  return view;
}

std::vector<Row> rows() {
  const auto now = situation();
  const auto plain = request_of(1);
  auto refused = now;
  refused.refusals = {{GroupId{"other"}, port::RefusalKind::permanent, "not me"},
                      {GroupId{"g"}, port::RefusalKind::has_member, "a member"},
                      {GroupId{"g"}, port::RefusalKind::permanent, "not authorised: Read"}};
  const auto problem = [](std::int32_t at, Errc errc, const char* detail) {
    auto view = partition(at, {});
    view.problem = error(errc, detail);
    return view;
  };
  const auto parts = [](std::vector<port::PartitionView> partitions) {
    return changed(view_of("g"), [&](auto& view) { view.partitions = partitions; });
  };
  return {
      {"empty", view_of("g"), plain, now, "", false},
      {"never committed", parts({partition(0, {})}), plain, now, "", false},
      {"gone, may come", problem_view("g", Errc::retriable, "loading"), plain, now, "loading",
       false},
      {"away", problem_view("g", Errc::unreachable, "no answer"), plain, now, "no answer", false},
      {"not authorised", problem_view("g", Errc::refused, "not authorised"), plain, now,
       "not authorised", true},
      {"pending on one", parts({partition(0, 1), problem(1, Errc::retriable, "pending")}), plain,
       now, "pending", false},
      {"permanent before passing",
       parts({problem(0, Errc::retriable, "pending"), problem(1, Errc::refused, "no such")}), plain,
       now, "no such", true},
      {"the first passing one stands for all",
       parts({problem(0, Errc::retriable, "one"), problem(1, Errc::retriable, "two")}), plain, now,
       "one", false},
      {"cut while looked at", parts({partition(0, 5, 50, 40)}), plain, now,
       "the log of 't' was being cut while it was looked at", false},
      {"no partitions", parts({}), plain, now, "g: its topics have no partitions", true},
      {"broker said never", view_of("g"), plain, refused, "not authorised: Read", true},
      {"a member", active_view("g", "app-1"), plain, now, "g has 1 member(s): app-1 at /10.0.0.1",
       false},
      {"unnamed members", changed(active_view("g"), [](auto& view) { view.members.clear(); }),
       plain, now, "g is in use (state Stable); the broker does not name its members", false},
      {"a static member",
       changed(active_view("g", "app-1"),
               [](auto& view) { view.members[0].instance_id = "pod-1"; }),
       plain, now, "g has 1 member(s): app-1 at /10.0.0.1 (static member 'pod-1')", false},
  };
}

std::vector<Row> held_rows() {
  const auto now = situation();
  const auto plain = request_of(1);
  auto held = plain;
  held.options.hold = true;
  auto holding = now;
  holding.held = true;
  const auto ours = [](port::GroupView& view) { view.held_by_us = true; };
  return {
      {"a joiner waits while we hold it", changed(active_view("g", "x"), ours), held, holding, "",
       false},
      {"a joiner of another protocol waits",
       changed(active_view("g"), [](auto& view) { view.members.clear(); }), held, holding, "",
       false},
      {"somebody else has it", active_view("g", "x"), held, holding,
       "g has 1 member(s): x at /10.0.0.1", false},
      {"a joiner waits for the end of a dead holder", changed(active_view("g", "x"), ours), held,
       now, "g has 1 member(s): x at /10.0.0.1", false},
      {"held by a dead engine", changed(view_of("g"), ours), plain, now,
       "g is still held by an engine that has ended or serves another control topic", false},
      {"held by a dead engine, and we hold too", changed(view_of("g"), ours), held, now, "", false},
      {"held", changed(view_of("g"), ours), held, holding, "", false},
      {"held no more", view_of("g"), held, holding, "g is not held any more", false},
  };
}

std::vector<Row> unknown_rows() {
  const auto now = situation();
  const auto plain = request_of(1);
  auto creates = plain;
  creates.options.create_group = true;
  Request pipeline;
  pipeline.pipeline = "cart";
  auto refused = now;
  refused.refusals = {{GroupId{"g"}, port::RefusalKind::permanent, "not authorised: Read"}};
  return {
      {"unknown group", missing_view("g"), plain, now,
       "no consumer group 'g'; --create-group makes it on purpose", true},
      {"made on purpose", missing_view("g"), creates, now, "", false},
      {"of a pipeline, not there yet", missing_view("g"), pipeline, now, "", false},
      {"in use and not there: a problem counts first", problem_view("g", Errc::refused, "no right"),
       creates, refused, "no right", true},
  };
}

TEST_CASE("what was seen of a group says whether it can be moved now", "[reasons]") {
  auto all = rows();
  for (const auto& more : {held_rows(), unknown_rows()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  const auto& row = all[GENERATE_COPY(range(std::size_t{0}, all.size()))];
  CAPTURE(row.what);
  const Target target{GroupId{"g"}, {}, {}, {{TopicName{"t"}, {}}}, {}};
  const auto found = decide::judge(target, row.view, row.request, row.situation);
  if (row.text.empty()) {
    CHECK(found.empty());
    return;
  }
  REQUIRE(found.size() == 1);
  CHECK(found[0].text == row.text);
  CHECK(found[0].group == GroupId{"g"});
  CHECK(found[0].permanent == row.permanent);
}

TEST_CASE("of many members five are named", "[reasons]") {
  auto view = active_view("g");
  view.members.clear();
  for (int i = 0; i < 8; ++i) {
    view.members.push_back({"", "", "m" + std::to_string(i), ""});
  }
  const auto found = decide::judge({GroupId{"g"}, {}, {}, {{TopicName{"t"}, {}}}, {}}, view,
                                   request_of(1), situation());
  CHECK(found.at(0).text == "g has 8 member(s): m0, m1, m2, m3, m4 and 3 more");
}

}  // namespace
}  // namespace flow::test
