#include <catch2/catch.hpp>

#include <functional>
#include <set>

#include "schemas/codec.h"
#include "tests/support/builders.h"

namespace flow::test {
namespace {

Request sample() {
  Request request = request_of(1, {"a", "b"});
  request.topics = {{TopicName{"t"}, {0, 1}}, {TopicName{"u"}, {}}};
  request.namespace_name = "shop";
  request.position.partitions = {{{TopicName{"t"}, 2}, 42, "m"}};
  return request;
}

TEST_CASE("who asked, when, through what and until when is not a request's content", "[digest]") {
  Request request = sample();
  const std::string digest = content_digest(request);
  REQUIRE(digest.size() == 64);
  request.asked_at = Instant{99};
  request.asked_by = "someone else";
  request.through = Through::http;
  request.expires_at = Instant{100};
  request.never_expires = true;
  REQUIRE(content_digest(request) == digest);
}

TEST_CASE("everything else is, and no two contents share a digest", "[digest]") {
  using Change = std::function<void(Request&)>;
  const std::vector<Change> changes{
      [](Request&) {},
      [](Request& r) { r.id = id_of(2); },
      [](Request& r) { r.namespace_name = "shop2"; },
      [](Request& r) { r.namespace_name = {}; },
      [](Request& r) { r.pipeline = "cart"; },
      [](Request& r) { r.streamlets = {"router"}; },
      [](Request& r) { r.streamlets = {""}; },
      [](Request& r) {
        r.streamlets = {"", ""};
      },
      [](Request& r) { r.groups.pop_back(); },
      [](Request& r) { r.groups.emplace_back(""); },
      [](Request& r) { r.groups = {GroupId{"ab"}}; },
      [](Request& r) {
        r.groups = {GroupId{"b"}, GroupId{"a"}};
      },
      [](Request& r) { r.topics.pop_back(); },
      [](Request& r) { r.topics[0].partitions.pop_back(); },
      [](Request& r) { r.topics[0].partitions = {}; },
      [](Request& r) {
        r.topics = {{TopicName{"t"}, {}}, {TopicName{"u"}, {0, 1}}};
      },
      [](Request& r) {
        r.topics = {{TopicName{"t"}, {0}}, {TopicName{""}, {1}}, {TopicName{"u"}, {}}};
      },
      [](Request& r) { r.position.kind = PositionKind::latest; },
      [](Request& r) { r.position.offset = 0; },
      [](Request& r) { r.position.instant = Instant{0}; },
      [](Request& r) { r.position.shift = 0; },
      [](Request& r) { r.position.group = "g"; },
      [](Request& r) { r.position.savepoint = "g"; },
      [](Request& r) { r.position.partitions = {}; },
      [](Request& r) { r.position.partitions[0].offset = {}; },
      [](Request& r) { r.position.partitions[0].metadata = {}; },
      [](Request& r) { r.position.partitions[0].at.partition = 3; },
      [](Request& r) { r.position.partitions[0].at.topic = TopicName{""}; },
      [](Request& r) { r.options.hold = true; },
      [](Request& r) { r.options.atomic = true; },
      [](Request& r) { r.options.create_group = true; },
      [](Request& r) { r.options.clamp = true; },
      [](Request& r) { r.options.force = true; },
  };
  std::set<std::string> digests;
  for (const auto& change : changes) {
    Request request = sample();
    change(request);
    digests.insert(content_digest(request));
  }
  REQUIRE(digests.size() == changes.size());
}

TEST_CASE("a digest is the same in every version", "[digest]") {
  // Digests stand in guard and result records for ever; a change here would make each old one
  // differ.
  REQUIRE(content_digest(sample()) ==
          "1caf8e8ffa36ae6de970f76c3224197083768395c948a035bd6df75e270f5459");
}

}  // namespace
}  // namespace flow::test
