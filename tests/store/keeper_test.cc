#include <catch2/catch.hpp>

#include "engine/runtime/store_keeper.h"
#include "tests/store/tables_kinds.h"
#include "tests/support/builders.h"

namespace flow::test {
namespace {

constexpr std::int64_t retention = 60'000;

struct Row {
  const char* name;
  bool has_read;
  bool birth_stands;
  std::optional<std::int64_t> current_at;
  std::int64_t now;
  std::vector<std::string> says;  // empty: it serves
};

const std::vector<Row> rows{
    {"an empty store serves any log", false, true, {}, 0, {}},
    {"also one that is another", false, false, {}, 0, {}},
    {"one that is current", true, true, 1'000, 1'000, {}},
    {"as old as tombstones are kept", true, true, 1'000, 1'000 + retention, {}},
    {"older than that",
     true,
     true,
     1'000,
     6'001 + retention,
     {"65 s", "delete.retention.ms 60000"}},
    {"a clock that was set back", true, true, 100'000, 1'000, {}},
    {"never current", true, true, {}, 1'000, {"never held all of the log"}},
    {"another log", true, false, 1'000, 1'000, {"another one"}},
    {"another log is named before age", true, false, 1'000, 6'001 + retention, {"another one"}},
    {"another log is named before what is missing", true, false, {}, 1'000, {"another one"}},
};

TEST_CASE("why a store is rebuilt", "[keeper]") {
  for (const auto& row : rows) {
    CAPTURE(row.name);
    const Folder folder;
    const auto store = store_of(tables_of(TablesKind::memory, folder));
    if (row.has_read) {
      REQUIRE(store->apply(views({at(0, request_of(1))}), LogPosition{1}));
    }
    if (row.current_at) {
      REQUIRE(store->checkpoint(Instant{*row.current_at}));
    }
    port::LogState log;
    log.delete_retention = Duration{retention};
    const auto why = engine::why_rebuild(*store, log, row.birth_stands, Instant{row.now});
    CHECK(why.empty() == row.says.empty());
    for (const auto& words : row.says) {
      CHECK_THAT(why, Catch::Contains(words));
    }
  }
}

TEST_CASE("what only the store knows is told request by request", "[keeper]") {
  const Folder folder;
  const auto store = store_of(tables_of(TablesKind::memory, folder));
  REQUIRE(store->apply(
      views({at(0, request_of(1)), at(2, guard_of(request_of(1), Verdict::passed)),
             at(3, result_of(1)), at(4, done_of(1)), at(6, verified_of(1)), at(7, request_of(2))}),
      LogPosition{8}));
  const auto told = [&](std::int64_t end) {
    const auto lines = engine::known_only_to(*store, LogPosition{end});
    return lines.value();
  };
  const auto one = id_of(1).value();
  const auto two = id_of(2).value() + " (requested): request";
  CHECK(told(8).empty());
  CHECK(told(7) == std::vector{two});
  CHECK(told(6) == std::vector{one + " (done): verified", two});
  CHECK(told(0) == std::vector{one + " (done): request guard result done verified", two});
}

}  // namespace
}  // namespace flow::test
