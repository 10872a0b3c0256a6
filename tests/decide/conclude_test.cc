#include "engine/decide/conclude.h"

#include <catch2/catch.hpp>

namespace flow::test {
namespace {

using decide::After;
using port::CommitStatus;
using port::RefusalKind;

port::CommitOutcome outcome(CommitStatus status, std::vector<RefusalKind> refusals = {},
                            bool spent = false) {
  port::CommitOutcome made;
  made.status = status;
  made.producer_spent = spent;
  for (const auto kind : refusals) {
    made.refusals.push_back({GroupId{"g"}, kind, "why"});
  }
  return made;
}

TEST_CASE("a transaction's outcome says what comes next", "[conclude]") {
  struct Row {
    const char* what;
    port::CommitOutcome outcome;
    std::size_t requests;
    int failures;
    After after;
    std::int64_t again_ms;
    std::size_t remembered;
  };
  const auto row = GENERATE(values<Row>({
      {"committed", outcome(CommitStatus::committed), 1, 0, After::read_back, 1'000, 0},
      {"committed, several", outcome(CommitStatus::committed), 8, 3, After::read_back, 1'000, 0},
      {"committed, producer spent", outcome(CommitStatus::committed, {}, true), 1, 0,
       After::read_back, 1'000, 0},
      {"fenced", outcome(CommitStatus::fenced), 1, 0, After::prove_leadership, 1'000, 0},
      {"unknown", outcome(CommitStatus::unknown, {}, true), 1, 2, After::settle, 1'000, 0},
      {"aborted, why is not known", outcome(CommitStatus::aborted), 1, 0, After::look_again, 1'050,
       0},
      {"aborted again", outcome(CommitStatus::aborted), 1, 3, After::look_again, 1'400, 0},
      {"aborted, producer spent", outcome(CommitStatus::aborted, {}, true), 4, 1, After::settle,
       1'100, 0},
      {"a member", outcome(CommitStatus::aborted, {RefusalKind::has_member}), 1, 0,
       After::look_again, 1'050, 1},
      {"changed: at once", outcome(CommitStatus::aborted, {RefusalKind::changed}), 1, 0,
       After::look_again, 1'000, 1},
      {"changed again: not so fast", outcome(CommitStatus::aborted, {RefusalKind::changed}), 1, 1,
       After::look_again, 1'100, 1},
      {"changed and a member",
       outcome(CommitStatus::aborted, {RefusalKind::changed, RefusalKind::has_member}), 1, 0,
       After::look_again, 1'050, 2},
      {"never", outcome(CommitStatus::aborted, {RefusalKind::permanent}), 1, 0, After::look_again,
       1'050, 1},
      {"one of several", outcome(CommitStatus::aborted, {RefusalKind::has_member}), 2, 0,
       After::each_alone, 1'000, 0},
  }));
  CAPTURE(row.what);
  const auto found = decide::conclude(row.outcome, row.requests, row.failures, Instant{1'000});
  CHECK(found.after == row.after);
  CHECK(found.again == Instant{row.again_ms});
  CHECK(found.remembered.size() == row.remembered);
}

TEST_CASE("waiting doubles up to five seconds", "[conclude]") {
  const auto [failures, ms] = GENERATE(table<int, std::int64_t>({{-1, 50},
                                                                 {0, 50},
                                                                 {1, 100},
                                                                 {2, 200},
                                                                 {6, 3'200},
                                                                 {7, 5'000},
                                                                 {8, 5'000},
                                                                 {1'000'000, 5'000}}));
  CHECK(decide::backoff(failures) == Duration{ms});
}

}  // namespace
}  // namespace flow::test
