#include "connectors/kafka/refusals.h"

#include <catch2/catch.hpp>

namespace flow::kafka {
namespace {

using Kind = port::RefusalKind;

const GroupId group{"cart.router.in"};
const TopicPartition at{TopicName{"shop.cart-events.v1"}, 1};

std::map<TopicPartition, OffsetSeen> seen(std::optional<Committed> committed,
                                          rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR) {
  return {{at, OffsetSeen{std::move(committed), code}}};
}

port::GroupMove move_from(std::optional<Committed> before) {
  port::GroupMove move;
  move.group = group;
  move.before = {{at, std::move(before)}};
  return move;
}

port::GroupMove move_to(const TopicPartition& place) {
  auto move = move_from({});
  move.commits = {{place, 0, ""}};
  return move;
}

}  // namespace

TEST_CASE("what the broker's answer means for the group") {
  const auto [code, kind] = GENERATE(table<int, Kind>({
      {RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID, Kind::has_member},
      {RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, Kind::has_member},
      {RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, Kind::has_member},
      {RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, Kind::has_member},
      {110, Kind::has_member},  // FENCED_MEMBER_EPOCH
      {113, Kind::has_member},  // STALE_MEMBER_EPOCH
      {RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND, Kind::permanent},
      {RD_KAFKA_RESP_ERR_INVALID_GROUP_ID, Kind::permanent},
      {RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, Kind::permanent},
      {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, Kind::permanent},
      {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, Kind::permanent},
      {RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE, Kind::permanent},
  }));
  const auto refusal = refusal_of(static_cast<rd_kafka_resp_err_t>(code), move_to(at));
  REQUIRE(refusal);
  CHECK(refusal->group == group);
  CHECK(refusal->kind == kind);
  const bool names_topic = code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
  CHECK_THAT(refusal->detail,
             Catch::Contains(names_topic ? "shop.cart-events.v1" : "cart.router.in"));
}

TEST_CASE("a missing right on a topic names the topics that it may be about") {
  auto move = move_from({});
  move.commits = {{at, 0, ""}, {{at.topic, 2}, 0, ""}};
  const auto code = RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
  CHECK(refusal_of(code, move)->detail == "not authorised: Read on topic 'shop.cart-events.v1'");
  move.commits.push_back({{TopicName{"a"}, 0}, 0, ""});
  CHECK(refusal_of(code, move)->detail ==
        "not authorised: Read on one of the topics 'a', 'shop.cart-events.v1'");
}

TEST_CASE("an answer that is not about the group refuses no group") {
  const auto code = GENERATE(
      RD_KAFKA_RESP_ERR__TIMED_OUT, RD_KAFKA_RESP_ERR__FENCED,
      RD_KAFKA_RESP_ERR_INVALID_PRODUCER_ID_MAPPING, RD_KAFKA_RESP_ERR_INVALID_TXN_STATE,
      RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS,
      RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED);
  CHECK_FALSE(refusal_of(code, move_from({})));
}

TEST_CASE("a before that still stands is no refusal") {
  const auto before = GENERATE(
      values<std::optional<Committed>>({std::nullopt, Committed{0, ""}, Committed{7, "metadata"}}));
  CHECK_FALSE(compare_before(move_from(before), seen(before)));
}

TEST_CASE("a before that has changed names partition, before and now") {
  using Offset = std::optional<Committed>;
  const auto [before, now, detail] = GENERATE(table<Offset, Offset, std::string>({
      {Committed{7, ""}, Committed{9, ""}, "had offset 7, now offset 9"},
      {Committed{7, ""}, std::nullopt, "had offset 7, now no offset"},
      {std::nullopt, Committed{0, ""}, "had no offset, now offset 0"},
      {Committed{7, "a"}, Committed{7, "b"},
       "had offset 7 (metadata 'a'), now offset 7 (metadata 'b')"},
      {Committed{7, ""}, Committed{7, "b"}, "had offset 7, now offset 7 (metadata 'b')"},
  }));
  const auto refusal = compare_before(move_from(before), seen(now));
  REQUIRE(refusal);
  CHECK(refusal->kind == Kind::changed);
  CHECK(refusal->detail == "'shop.cart-events.v1' partition 1 " + detail);
}

TEST_CASE("a before that cannot be read again counts as changed") {
  const auto unread = GENERATE(values<std::map<TopicPartition, OffsetSeen>>(
      {{}, seen(Committed{7, ""}, RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS)}));
  const auto refusal = compare_before(move_from(Committed{7, ""}), unread);
  REQUIRE(refusal);
  CHECK(refusal->kind == Kind::changed);
}

TEST_CASE("a negative offset is found wherever it stands") {
  port::Transaction transaction;
  CHECK_FALSE(negative_offset(transaction));
  port::GroupMove move;
  move.group = group;
  move.commits = {{at, 0, ""}, {at, 5, ""}};
  transaction.moves = {move, move};
  CHECK_FALSE(negative_offset(transaction));
  transaction.moves[1].commits[1].offset = -1;
  CHECK(negative_offset(transaction) ==
        "group 'cart.router.in': offset -1 for 'shop.cart-events.v1' partition 1 is negative");
}

}  // namespace flow::kafka
