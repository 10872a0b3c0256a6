#include "store/anchor.h"

#include <catch2/catch.hpp>

#include "tests/store/tables_kinds.h"
#include "tests/support/builders.h"

namespace flow::test {
namespace {

std::vector<std::string> anchors_after(const std::vector<OwnedRecord>& log) {
  const Folder folder;
  const auto store = store_of(tables_of(TablesKind::memory, folder));
  REQUIRE(store->apply(views(log), LogPosition{log.back().position + 1}));
  std::vector<std::string> found;
  const auto anchors = store->anchors();
  for (const auto& anchor : anchors.value()) {
    found.push_back(anchor.key + "@" + std::to_string(anchor.position.value()));
  }
  return found;
}

TEST_CASE("a store holds on to its last done and its last record of a request", "[anchor]") {
  const auto request = at(2, request_of(1));
  const auto done = at(7, done_of(1));
  const auto verified = at(9, verified_of(1));
  const std::string done_at = done.key + "@7";
  CHECK(anchors_after({at(0, EngineStarted{"e", "h", "1", Instant{1}, {}})}).empty());
  CHECK(anchors_after({request}) == std::vector{request.key + "@2"});
  CHECK(anchors_after({request, done}) == std::vector{done_at, done_at});
  CHECK(anchors_after({request, done, verified}) == std::vector{done_at, verified.key + "@9"});
  // Neither is for a log's own records: they say nothing of any request.
  CHECK(anchors_after({request, done, at(9, EngineStarted{"f", "h", "1", Instant{2}, {}})}) ==
        std::vector{done_at, done_at});
  // A log need not keep its tombstones.
  OwnedRecord erased{10, done.key, std::nullopt};
  CHECK(anchors_after({request, done, erased}).empty());
  CHECK(anchors_after({request, done, erased, at(11, request_of(2))}) ==
        std::vector{at(11, request_of(2)).key + "@11"});
}

TEST_CASE("a log shows what a store read of it, or not", "[anchor]") {
  const store::Anchor anchor{LogPosition{5}, "k", "v"};
  const auto stands = [&](const std::vector<OwnedRecord>& records) {
    return store::stands_in(views(records), anchor);
  };
  CHECK(stands({{5, "k", "v"}, {6, "a", "b"}}) == true);
  CHECK(stands({{4, "k", "x"}, {5, "k", "v"}}) == true);
  // Another record stands there, whatever comes later.
  CHECK(stands({{5, "a", "v"}, {6, "k", "v"}}) == false);
  CHECK(stands({{5, "k", "x"}, {6, "k", "v"}}) == false);
  CHECK(stands({{5, "k", std::nullopt}}) == false);
  // Compacted away for a later one of its key, be that a tombstone.
  CHECK(stands({{6, "a", "b"}, {9, "k", "x"}}) == true);
  CHECK(stands({{6, "a", "b"}, {9, "k", std::nullopt}}) == true);
  // Nothing tells yet.
  CHECK_FALSE(stands({}).has_value());
  CHECK_FALSE(stands({{6, "a", "b"}}).has_value());
  CHECK_FALSE(stands({{4, "k", "v"}}).has_value());
}

}  // namespace
}  // namespace flow::test
