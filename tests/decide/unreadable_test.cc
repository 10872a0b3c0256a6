#include <catch2/catch.hpp>

#include "engine/decide/decide.h"
#include "store/phase.h"
#include "tests/decide/views.h"

namespace flow::test {

using decide::Rest;
using decide::Write;

TEST_CASE("a request of a newer version waits for a newer engine", "[decide]") {
  store::RequestFacts facts;
  facts.id = id_of(1);
  const RecordKey key{Kind::request, id_of(1), {}, {}};
  store::apply(facts, key,
               at(0, key,
                  R"({"body_type":"Request","body":{"id":")" + id_of(1).value() +
                      R"(","position":{"kind":77}}})")
                   .view());
  CHECK(std::holds_alternative<Rest>(decide::decide(facts, situation())));

  facts = applied(facts, Write{{cancel_of(1)}});
  SECTION("or is cancelled") {
    const auto effect = decide::decide(facts, situation());
    CHECK(done_in(effect).outcome == DoneOutcome::cancelled);
    CHECK(done_in(effect).reason == "cancelled by someone");
    CHECK(store::phase_of(applied(facts, effect)) == store::Phase::closed);
  }
  SECTION("who has accepted it cancels it") {
    const RecordKey guard{Kind::guard, id_of(1), {}, {}};
    store::apply(
        facts, guard,
        at(9, guard,
           R"({"body_type":"Guard","body":{"id":")" + id_of(1).value() + R"(","verdict":77}})")
            .view());
    CHECK(std::holds_alternative<Rest>(decide::decide(facts, situation())));
  }
}

TEST_CASE("a request that cannot be read is refused with the reason", "[decide]") {
  store::RequestFacts facts;
  facts.id = id_of(1);
  const RecordKey key{Kind::request, id_of(1), {}, {}};
  store::apply(facts, key, at(17, key, "rubbish").view());
  const auto effect = decide::decide(facts, situation());
  REQUIRE(std::holds_alternative<Write>(effect));
  CHECK(done_in(effect).outcome == DoneOutcome::refused);
  CHECK(done_in(effect).reason ==
        "the request at position 17 cannot be read: the value is neither a FLOW FlatBuffers record "
        "nor JSON text");
  CHECK_FALSE(guard_in(effect).request.has_value());
  CHECK(guard_in(effect).verdict == Verdict::closed);
  CHECK(store::phase_of(applied(facts, effect)) == store::Phase::closed);
}

}  // namespace flow::test
