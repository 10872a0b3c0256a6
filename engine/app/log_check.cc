#include "engine/app/log_check.h"

#include <algorithm>

namespace flow::app {
namespace {

std::string alter(const TopicName& topic, const std::string& setting) {
  return "kafka-configs.sh --bootstrap-server HOST:PORT --alter --entity-type topics "
         "--entity-name " +
         topic.value() + " --add-config " + setting;
}

}  // namespace

std::vector<LogProblem> check_log(const TopicName& topic, const port::LogState& state) {
  std::vector<LogProblem> problems;
  const std::string name = "control topic '" + topic.value() + "': ";
  if (state.partitions != 1) {
    problems.push_back(
        {name + "partitions is " + std::to_string(state.partitions) +
             ", wanted is 1; partitions cannot be taken away: make another topic with "
             "flow topic create --control-topic NAME",
         false});
  }
  if (state.cleanup_policy != "compact") {
    problems.push_back(
        {name + "cleanup.policy is '" + state.cleanup_policy +
             "', wanted is 'compact'; mend it with: " + alter(topic, "cleanup.policy=compact"),
         false});
  }
  constexpr std::int32_t replicas_wanted_max = 3;
  const std::int32_t replicas_wanted = std::clamp(state.brokers, 1, replicas_wanted_max);
  if (state.replicas < replicas_wanted) {
    problems.push_back({name + "replication factor is " + std::to_string(state.replicas) +
                            ", wanted is " + std::to_string(replicas_wanted) + " on " +
                            std::to_string(state.brokers) +
                            " brokers; mend it with kafka-reassign-partitions.sh, or go on with "
                            "--allow-unsafe",
                        true});
  }
  if (state.replicas >= replicas_wanted_max && state.min_insync_replicas < 2) {
    problems.push_back(
        {name + "min.insync.replicas is " + std::to_string(state.min_insync_replicas) +
             ", wanted is 2; mend it with: " + alter(topic, "min.insync.replicas=2") +
             ", or go on with --allow-unsafe",
         true});
  }
  if (state.unclean_leader_election) {
    problems.push_back(
        {name + "unclean.leader.election.enable is true, wanted is false; mend it with: " +
             alter(topic, "unclean.leader.election.enable=false") +
             ", or go on with --allow-unsafe",
         true});
  }
  return problems;
}

std::string refusal_of(const TopicName& topic, const port::LogState& state, bool allow_unsafe) {
  std::string text;
  for (const auto& problem : check_log(topic, state)) {
    if (problem.unsafe_only && allow_unsafe) continue;
    text += (text.empty() ? "" : "; ") + problem.text;
  }
  return text;
}

}  // namespace flow::app
