#include <catch2/catch.hpp>

#include "engine/app/cli/group_check.h"
#include "engine/app/cli/text.h"
#include "engine/app/log_check.h"

using namespace flow;
using namespace flow::app;

namespace {

const TopicName topic{"flow-control"};

port::LogState state_of(int partitions, int replicas, int brokers, const char* policy, int in_sync,
                        bool unclean) {
  port::LogState state;
  state.partitions = partitions;
  state.replicas = replicas;
  state.brokers = brokers;
  state.cleanup_policy = policy;
  state.min_insync_replicas = in_sync;
  state.unclean_leader_election = unclean;
  return state;
}

port::GroupView view_of(port::GroupState state, const char* name, std::vector<Member> members) {
  port::GroupView view;
  view.group = GroupId{"g"};
  view.state = state;
  view.state_name = name;
  view.members = std::move(members);
  return view;
}

Request request_for(bool create_group) {
  Request request;
  request.groups = {GroupId{"g"}};
  request.options.create_group = create_group;
  return request;
}

GroupVerdict judge(const port::GroupView& view, bool members_are_fine = false,
                   bool create_group = false) {
  return judge_groups(request_for(create_group), port::Observation{Instant{1}, {view}},
                      members_are_fine);
}

}  // namespace

TEST_CASE("a control topic as it must be, and what is wrong with others") {
  struct Case {
    port::LogState state;
    const char* safe;    // refusal without --allow-unsafe
    const char* unsafe;  // with it
  };
  const auto c = GENERATE(values<Case>({
      {state_of(1, 3, 3, "compact", 2, false), "", ""},
      {state_of(1, 3, 5, "compact", 2, false), "", ""},
      {state_of(1, 1, 1, "compact", 1, false), "", ""},
      {state_of(1, 2, 2, "compact", 1, false), "", ""},
      {state_of(3, 1, 1, "compact", 1, false),
       "control topic 'flow-control': partitions is 3, wanted is 1; partitions cannot be taken "
       "away: "
       "make another topic with flow topic create --control-topic NAME",
       "control topic 'flow-control': partitions is 3, wanted is 1; partitions cannot be taken "
       "away: "
       "make another topic with flow topic create --control-topic NAME"},
      {state_of(1, 1, 1, "compact,delete", 1, false),
       "control topic 'flow-control': cleanup.policy is 'compact,delete', wanted is 'compact'; "
       "mend it "
       "with: kafka-configs.sh --bootstrap-server HOST:PORT --alter --entity-type topics "
       "--entity-name flow-control "
       "--add-config "
       "cleanup.policy=compact",
       "control topic 'flow-control': cleanup.policy is 'compact,delete', wanted is 'compact'; "
       "mend it "
       "with: kafka-configs.sh --bootstrap-server HOST:PORT --alter --entity-type topics "
       "--entity-name flow-control "
       "--add-config "
       "cleanup.policy=compact"},
      {state_of(1, 1, 3, "compact", 1, false),
       "control topic 'flow-control': replication factor is 1, wanted is 3 on 3 brokers; mend it "
       "with "
       "kafka-reassign-partitions.sh, or go on with --allow-unsafe",
       ""},
      {state_of(1, 3, 3, "compact", 1, false),
       "control topic 'flow-control': min.insync.replicas is 1, wanted is 2; mend it with: "
       "kafka-configs.sh --bootstrap-server HOST:PORT --alter --entity-type topics --entity-name "
       "flow-control --add-config "
       "min.insync.replicas=2, or go on with --allow-unsafe",
       ""},
      {state_of(1, 1, 1, "compact", 1, true),
       "control topic 'flow-control': unclean.leader.election.enable is true, wanted is false; "
       "mend it "
       "with: kafka-configs.sh --bootstrap-server HOST:PORT --alter --entity-type topics "
       "--entity-name flow-control "
       "--add-config "
       "unclean.leader.election.enable=false, or go on with --allow-unsafe",
       ""},
  }));
  CHECK(refusal_of(topic, c.state, false) == c.safe);
  CHECK(refusal_of(topic, c.state, true) == c.unsafe);
}

TEST_CASE("everything that is wrong is told at once") {
  CHECK(check_log(topic, state_of(2, 1, 3, "delete", 1, true)).size() == 4);
}

TEST_CASE("a group with members is refused, with who they are") {
  const auto one = view_of(port::GroupState::active, "Stable", {{"console", "/10.0.0.1", "m", ""}});
  CHECK(judge(one).refusals ==
        std::vector<std::string>{
            "group 'g' has 1 member(s) (state Stable): client 'console' on "
            "/10.0.0.1; stop them first, or append with --when-stopped or --wait"});
  CHECK(judge(one, true).refusals.empty());
  const auto fixed = view_of(port::GroupState::active, "Stable", {{"c", "", "m", "pod-0"}});
  CHECK_THAT(judge(fixed).refusals.at(0), Catch::Contains("client 'c' (static member 'pod-0')"));
  const auto unnamed = view_of(port::GroupState::active, "Stable", {});
  CHECK(judge(unnamed).refusals ==
        std::vector<std::string>{
            "group 'g' is in use (state Stable); the broker does not name its "
            "members; stop them first, or append with --when-stopped or --wait"});
  CHECK(judge(view_of(port::GroupState::empty, "Empty", {})).refusals.empty());
}

TEST_CASE("a group that does not exist is made on purpose only") {
  const auto missing = view_of(port::GroupState::missing, "Dead", {});
  CHECK(judge(missing).refusals ==
        std::vector<std::string>{"no consumer group 'g'; --create-group makes it on purpose"});
  CHECK(judge(missing, true).refusals.size() == 1);
  CHECK(judge(missing, false, true).refusals.empty());
  const auto of_pipeline = judge_groups(Request{}, port::Observation{Instant{1}, {missing}}, false);
  CHECK(of_pipeline.refusals.empty());
}

TEST_CASE("what Kafka says of a group or a topic") {
  auto view = view_of(port::GroupState::empty, "Empty", {});
  port::PartitionView partition;
  partition.problem = error(Errc::refused, "no such topic 't'");
  view.partitions = {partition, partition};
  CHECK(judge(view).refusals == std::vector<std::string>{"no such topic 't'"});
  view.partitions[0].problem = view.partitions[1].problem =
      error(Errc::retriable, "a transaction is pending");
  CHECK(judge(view).refusals.empty());
  CHECK_FALSE(judge(view).failure);
  view.partitions.clear();
  view.problem = error(Errc::refused, "not authorised: Describe on group 'g'");
  CHECK(judge(view).refusals.empty());
  CHECK(judge(view).notes.size() == 1);
  view.problem = error(Errc::retriable, "coordinator load in progress");
  CHECK(judge(view).refusals.empty());
  CHECK(judge(view).failure == view.problem);
}

TEST_CASE("tables line up, and hold nothing that a terminal would obey") {
  Table table{{"A", "B"}};
  CHECK(table.empty());
  table.add({"long cell", "x"});
  table.add({"\xc3\xbc", "\x1b[31mred"});
  table.add({"", ""});
  CHECK(table.text() ==
        "A          B\n"
        "long cell  x\n"
        "\xc3\xbc          \\x1b[31mred\n"
        "-          -\n");
}

TEST_CASE("text from the topic is made safe") {
  struct Case {
    const char* text;
    const char* shown;
    const char* valid;
  };
  const auto c = GENERATE(values<Case>({
      {"plain", "plain", "plain"},
      {"a\nb", "a\\x0ab", "a\nb"},
      {"\x7f", "\\x7f", "\x7f"},
      {"\xc3\xbc", "\xc3\xbc", "\xc3\xbc"},
      {"\xc2\x9b", "\\xc2\\x9b", "\xc2\x9b"},
      {"\xff", "\\xff", "\xef\xbf\xbd"},
      {"\xc3", "\\xc3", "\xef\xbf\xbd"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
  }));
  CHECK(printable(c.text) == c.shown);
  CHECK(valid_utf8(c.text) == c.valid);
}
