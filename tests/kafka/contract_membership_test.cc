#include <poll.h>

#include <catch2/catch.hpp>

#include "connectors/kafka/group_membership.h"
#include "tests/kafka/support/engine.h"

namespace flow::kafka::testing {
namespace {

// Asks for changes until `is_enough` says so of one, or the member has left.
template <typename Predicate>
bool pump(GroupMembership& member, Predicate is_enough) {
  const Deadline deadline{Duration{20'000}};
  while (!deadline.has_passed() && !member.has_left()) {
    while (const auto change = member.next()) {
      if (is_enough(*change)) {
        return true;
      }
    }
    ::poll(nullptr, 0, 5);
  }
  return member.has_left();
}

}  // namespace

// librdkafka ends a member as soon as its last revocation is answered; what was queued before is
// still handed out, and calls that ask it about its group answer with a null pointer.
TEST_CASE("a member that has left can still be asked and answered", "[contract]") {
  const auto assignor = GENERATE(Assignor::range, Assignor::cooperative_sticky);
  const auto topic = world::fresh("topic");
  world::create_topic(topic, 1, {});
  auto opened = GroupMembership::open(client_config(), "test", GroupId{world::fresh("group")},
                                      assignor, Duration{60'000});
  REQUIRE(opened);
  auto& member = *opened.value();
  REQUIRE(member.subscribe({TopicName{topic}}));
  REQUIRE(pump(member, [](const GroupMembership::Change& change) {
    return std::holds_alternative<GroupMembership::Assigned>(change);
  }));
  member.accept();
  CHECK(member.metadata() != nullptr);
  member.begin_to_leave();
  REQUIRE(pump(member, [&](const GroupMembership::Change&) {
    member.give_up();
    return false;
  }));
  REQUIRE(member.has_left());
  member.give_up();
  member.accept();
  CHECK_FALSE(member.next());
}

}  // namespace flow::kafka::testing
