#include <catch2/catch.hpp>
#include <set>

#include "engine/app/cli/documents.h"
#include "engine/app/cli/report.h"
#include "schemas/codec.h"

using namespace flow;
using namespace flow::app;

namespace {

const RequestId id{"00000000-0000-4000-8000-000000000001"};
const GroupId in{"cart.router.in"};
const GroupId out{"cart.router.out"};

// Facts as an engine leaves them, step by step.
class Story {
 public:
  Story() {
    facts.id = id;
    request_.id = id;
    request_.asked_at = Instant{1'740'817'800'000};
    request_.asked_by = "me@here";
    request_.pipeline = "cart";
    request_.expires_at = Instant{1'740'904'200'000};
    facts.request = fact(request_);
  }

  Story& guarded(Verdict verdict, std::vector<Reason> reasons = {}) {
    Guard guard;
    guard.id = id;
    guard.request = request_;
    guard.digest = content_digest(request_);
    // Not in the order of the alphabet: the request's order is what people see.
    guard.targets = {{out, "router", "out", {{TopicName{"t"}, {}}}, {}},
                     {in, "router", "in", {{TopicName{"t"}, {}}}, {}}};
    guard.verdict = verdict;
    guard.reasons = std::move(reasons);
    facts.guard = fact(guard);
    return *this;
  }
  Story& moved(const GroupId& group) {
    GroupResult result;
    result.id = id;
    result.group = group;
    for (const int partition : {0, 1, 2}) {
      result.moves.push_back({{TopicName{"shop.cart-events.v1"}, partition},
                              Committed{10, {}},
                              0,
                              Committed{0, {}},
                              {}});
    }
    facts.results[group][LeaderNumber{7}] = fact(result);
    return *this;
  }
  Story& failed(const GroupId& group, const std::string& why) {
    GroupResult result;
    result.id = id;
    result.group = group;
    result.failure = why;
    facts.results[group][LeaderNumber{7}] = fact(result);
    return *this;
  }
  Story& done(DoneOutcome outcome, const std::string& reason = {}) {
    facts.dones[LeaderNumber{7}] =
        fact(Done{id, LeaderNumber{7}, outcome, reason, Instant{1'740'817'801'000}, "e"});
    return *this;
  }
  Story& verified(const GroupId& group, Standing standing, bool last, bool contested = false) {
    Verified record;
    record.id = id;
    record.group = group;
    record.standing = standing;
    record.last = last;
    record.contested = contested;
    if (contested || standing == Standing::started)
      record.members = {{"console", "/10.0.0.1", "", ""}};
    if (standing == Standing::superseded) record.offsets = {{{TopicName{"t"}, 0}, 5, {}}};
    facts.verified[group] = fact(record);
    return *this;
  }

  store::RequestFacts facts;

 private:
  template <typename T>
  static store::Fact<T> fact(T record) {
    return {LogPosition{1}, Instant{1}, store::Content::readable, std::move(record), {}};
  }
  Request request_;
};

struct Case {
  store::RequestFacts facts;
  WaitFor wait_for;
  bool is_over;
  Exit exit;
  const char* words;  // why it waits, or how it ended
};

}  // namespace

TEST_CASE("where a followed request stands") {
  const Reason reason{"cart.router.in has 1 member(s): console", Instant{1}, {}, in, false};
  const auto c = GENERATE_COPY(values<Case>({
      {Story{}.facts, WaitFor::done, false, Exit::waiting, "no engine has taken it up yet"},
      {Story{}.guarded(Verdict::waiting, {reason}).facts, WaitFor::done, false, Exit::waiting,
       "cart.router.in has 1 member(s): console"},
      {Story{}.guarded(Verdict::waiting).facts, WaitFor::done, false, Exit::waiting,
       "the engine is about to carry it out"},
      {Story{}.guarded(Verdict::waiting, {reason}).facts, WaitFor::end, false, Exit::waiting,
       "no engine has taken the cancel up yet"},
      {Story{}
           .guarded(Verdict::closed)
           .done(DoneOutcome::cancelled, "cancelled by me@laptop")
           .facts,
       WaitFor::done, true, Exit::refused, "cancelled by me@laptop"},
      {Story{}.guarded(Verdict::closed).done(DoneOutcome::refused, "no such topic 't'").facts,
       WaitFor::done, true, Exit::refused, "refused: no such topic 't'"},
      {Story{}.guarded(Verdict::closed).done(DoneOutcome::cancelled).facts, WaitFor::verified, true,
       Exit::refused, "cancelled"},
      {Story{}.guarded(Verdict::closed).done(DoneOutcome::expired, "its time was up").facts,
       WaitFor::done, true, Exit::refused, "expired: its time was up"},
      {Story{}.guarded(Verdict::passed).moved(in).done(DoneOutcome::completed).facts, WaitFor::done,
       false, Exit::waiting, "done, but not verified yet: cart.router.in"},
      {Story{}.guarded(Verdict::passed).moved(in).done(DoneOutcome::completed).facts, WaitFor::end,
       true, Exit::ok, ""},
      {Story{}
           .guarded(Verdict::passed)
           .moved(in)
           .done(DoneOutcome::completed)
           .verified(in, Standing::stands, false)
           .facts,
       WaitFor::done, true, Exit::ok, ""},
      {Story{}
           .guarded(Verdict::passed)
           .moved(in)
           .done(DoneOutcome::completed)
           .verified(in, Standing::stands, false)
           .facts,
       WaitFor::verified, false, Exit::waiting, "done, but not verified yet: cart.router.in"},
      {Story{}
           .guarded(Verdict::passed)
           .moved(in)
           .done(DoneOutcome::completed)
           .verified(in, Standing::started, true)
           .facts,
       WaitFor::verified, true, Exit::ok, ""},
      {Story{}
           .guarded(Verdict::passed)
           .moved(in)
           .done(DoneOutcome::completed)
           .verified(in, Standing::superseded, true)
           .facts,
       WaitFor::verified, true, Exit::refused, ""},
      {Story{}
           .guarded(Verdict::passed)
           .moved(in)
           .done(DoneOutcome::completed)
           .verified(in, Standing::gone, true)
           .facts,
       WaitFor::verified, true, Exit::refused, ""},
      {Story{}
           .guarded(Verdict::passed)
           .moved(in)
           .failed(out, "no right")
           .done(DoneOutcome::completed_with_failures)
           .verified(in, Standing::stands, false)
           .facts,
       WaitFor::done, true, Exit::refused, ""},
      {Story{}
           .guarded(Verdict::passed)
           .failed(in, "no right")
           .done(DoneOutcome::completed_with_failures)
           .facts,
       WaitFor::verified, true, Exit::refused, ""},
      {Story{}.guarded(Verdict::passed).moved(in).facts, WaitFor::done, true, Exit::refused,
       "damaged: it has a result but no done record"},
  }));
  const auto progress = progress_of(c.facts, c.wait_for);
  CHECK(progress.is_over == c.is_over);
  CHECK(progress.exit == c.exit);
  CHECK((c.is_over ? progress.ending : progress.why) == c.words);
}

TEST_CASE("one line a group, in the request's order") {
  auto story = Story{}.guarded(Verdict::passed).moved(in).failed(out, "not authorised");
  CHECK(result_lines(story.facts) ==
        std::vector<std::string>{
            "cart.router.out: not authorised",
            "cart.router.in: 3 partition(s) of 'shop.cart-events.v1' to earliest"});
  CHECK(failure_lines(story.facts) == std::vector<std::string>{"cart.router.out: not authorised"});
}

TEST_CASE("what the looks after a move found") {
  const auto lines = [](Standing standing, bool contested) {
    return verification_lines(
        Story{}.guarded(Verdict::passed).moved(in).verified(in, standing, true, contested).facts);
  };
  CHECK(lines(Standing::stands, false).empty());
  CHECK(lines(Standing::started, false) ==
        std::vector<std::string>{"cart.router.in: started: client 'console' on /10.0.0.1"});
  CHECK(lines(Standing::superseded, false) ==
        std::vector<std::string>{
            "cart.router.in: superseded: somebody committed other offsets after the "
            "reset: t:0 at 5"});
  CHECK(lines(Standing::gone, false) ==
        std::vector<std::string>{
            "cart.router.in: gone: the offsets expired, or the topic was deleted"});
  CHECK(lines(Standing::started, true) ==
        std::vector<std::string>{"cart.router.in: contested: client 'console' on /10.0.0.1 was in "
                                 "the group right after the "
                                 "reset, and may have started from where it stood before"});
}

TEST_CASE("what a request asks for, in words") {
  Request request;
  request.pipeline = "cart";
  CHECK(what_text(request) == "cart to earliest");
  request.namespace_name = "shop";
  request.streamlets = {"router", "totals"};
  CHECK(what_text(request) == "shop/cart [router, totals] to earliest");
  request.options.hold = request.options.atomic = request.options.create_group = true;
  CHECK(what_text(request) ==
        "shop/cart [router, totals] to earliest (hold, atomic, create-group)");
  request = {};
  request.groups = {GroupId{"g"}};
  request.topics = {{TopicName{"t"}, {}}, {TopicName{"u"}, {0, 2}}};
  CHECK(what_text(request) == "group g: t, u:0,2 to earliest");
  request.groups.emplace_back("h");
  CHECK(what_text(request) == "groups g, h: t, u:0,2 to earliest");
}

TEST_CASE("a later record of one id with other content is seen") {
  auto story = Story{}.guarded(Verdict::waiting);
  CHECK_FALSE(has_other_content(story.facts));
  story.facts.request->record->pipeline = "other";
  CHECK(has_other_content(story.facts));
}

TEST_CASE("the document of a request") {
  const auto story =
      Story{}
          .guarded(Verdict::passed, {{"held \x1b up", Instant{5}, Instant{6}, in, false}})
          .moved(in)
          .done(DoneOutcome::completed)
          .verified(in, Standing::stands, true);
  const auto document = request_document(story.facts);
  const auto text = [&](const char* name) { return document.at(name).as_string(); };
  CHECK(text("id") == id.value());
  CHECK(text("phase") == "closed");
  CHECK(text("outcome") == "completed");
  CHECK(text("asked_at") == "2025-03-01T08:30:00.000Z");
  CHECK(text("asked_by") == "me@here");
  CHECK(text("pipeline") == "cart");
  CHECK(text("done_at") == "2025-03-01T08:30:01.000Z");
  CHECK(document.at("reason").is_null());
  CHECK(document.at("waits_for").as_array().empty());
  CHECK(document.at("reasons").as_array().size() == 1);
  const auto& result = document.at("results").as_array().at(0).as_object();
  CHECK(result.at("group").as_string() == "cart.router.in");
  CHECK(result.at("failure").is_null());
  const auto& move = result.at("partitions").as_array().at(2).as_object();
  CHECK(move.at("partition").as_int64() == 2);
  CHECK(move.at("before").at("offset").as_int64() == 10);
  CHECK(move.at("after").at("offset").as_int64() == 0);
  CHECK(result.at("verified").at("standing").as_string() == "stands");
}

TEST_CASE("every phase has a document and a word") {
  store::RequestFacts unreadable;
  unreadable.id = id;
  unreadable.request = store::Fact<Request>{LogPosition{1}, Instant{2}, store::Content::unreadable,
                                            std::nullopt, "json: rubbish"};
  CHECK(outcome_text(unreadable) == "unreadable: json: rubbish");
  CHECK(request_document(unreadable).at("phase").as_string() == "unreadable");
  // Whoever reads the document finds the same fields whatever became of the request.
  const auto fields = [](const store::RequestFacts& facts) {
    std::set<std::string> names;
    for (const auto& field : request_document(facts)) names.insert(std::string{field.key()});
    return names;
  };
  CHECK(fields(unreadable) == fields(Story{}.facts));
  CHECK(fields(unreadable) ==
        fields(Story{}.guarded(Verdict::passed).moved(in).done(DoneOutcome::completed).facts));
  CHECK(outcome_text(Story{}.facts) == "requested");
  CHECK(outcome_text(Story{}.guarded(Verdict::passed).facts) ==
        "damaged: its guard record says that it ended, but its done record is missing");
}
