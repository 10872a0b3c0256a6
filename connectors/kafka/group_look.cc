#include "connectors/kafka/group_look.h"

#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "connectors/kafka/errors.h"
#include "connectors/kafka/group_questions.h"
#include "connectors/kafka/group_states.h"
#include "connectors/kafka/lookups.h"

namespace flow::kafka {
namespace {

const Duration stable_max{1'000};

Instant wall_clock() {
  return Instant{std::chrono::duration_cast<std::chrono::milliseconds>(
                     std::chrono::system_clock::now().time_since_epoch())
                     .count()};
}

std::string name_of(const TopicPartition& at) {
  return "topic '" + at.topic.value() + "' partition " + std::to_string(at.partition);
}

// One look: what is asked once for all groups (topics, ends), and what is asked for each of them.
class Look {
 public:
  Look(const Connection& connection, const port::ObserveRequest& request, const Deadline& deadline)
      : connection_{connection}, request_{request}, deadline_{deadline} {}

  Result<port::Observation> run() {
    if (request_.groups.empty()) {
      return port::Observation{wall_clock(), {}};
    }
    BOOST_OUTCOME_TRY(
        connection_.reach("group '" + request_.groups.front().group.value() + "'", deadline_));
    BOOST_OUTCOME_TRY(look_at_topics());
    select_partitions();
    look_at_ends();
    look_at_offsets();
    // After the offsets: a look that waited for them to become stable has to see who came
    // meanwhile.
    groups_ = ask_groups(connection_, group_ids(), deadline_);
    return answer();
  }

 private:
  struct Bounds {
    std::int64_t start = 0;
    std::int64_t last_stable = 0;
    std::optional<Error> problem;
  };

  Result<void> look_at_topics() {
    std::set<TopicName> names;
    for (const auto& query : request_.groups) {
      for (const auto& topic : query.topics) {
        names.insert(topic.name);
      }
    }
    for (const auto& name : names) {
      auto shape = look_up_topic(connection_, name, deadline_);
      if (!shape && shape.error().errc == Errc::unreachable) {
        return shape.error();
      }
      shapes_.insert_or_assign(name, std::move(shape));
    }
    return boost::outcome_v2::success();
  }

  void select_partitions() {
    for (const auto& query : request_.groups) {
      std::set<TopicPartition> chosen;
      for (const auto& topic : query.topics) {
        const auto& shape = shapes_.at(topic.name);
        for (const auto partition : topic.partitions) {
          chosen.insert({topic.name, partition});
        }
        if (topic.partitions.empty() && shape) {
          for (std::size_t i = 0; i < shape.value().partitions.size(); ++i) {
            chosen.insert({topic.name, static_cast<std::int32_t>(i)});
          }
        }
      }
      chosen_.emplace_back(chosen.begin(), chosen.end());
    }
  }

  // Why nothing can be said of this partition, as far as its topic's metadata tells.
  std::optional<Error> shape_problem(const TopicPartition& at) const {
    const auto& shape = shapes_.at(at.topic);
    if (!shape) {
      return shape.error();
    }
    const auto& partitions = shape.value().partitions;
    if (at.partition < 0 || static_cast<std::size_t>(at.partition) >= partitions.size()) {
      return error(Errc::refused, "no partition " + std::to_string(at.partition) + " of topic '" +
                                      at.topic.value() + "', it has " +
                                      std::to_string(partitions.size()));
    }
    if (const auto code = partitions[static_cast<std::size_t>(at.partition)];
        code != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return failure(code, name_of(at));
    }
    return std::nullopt;
  }

  void look_at_ends() {
    std::map<TopicName, std::vector<TopicPartition>> by_topic;
    std::vector<TopicPartition> all;
    for (const auto& chosen : chosen_) {
      for (const auto& at : chosen) {
        if (!bounds_.contains(at)) {
          auto& bounds = bounds_[at];
          bounds.problem = shape_problem(at);
          if (!bounds.problem) {
            all.push_back(at);
            by_topic[at.topic].push_back(at);
          }
        }
      }
    }
    if (!look_at_ends_of(all) && by_topic.size() > 1) {
      // One topic's failure fails the whole call: find out whose it is.
      for (const auto& [topic, partitions] : by_topic) {
        look_at_ends_of(partitions);
      }
    }
  }

  bool look_at_ends_of(const std::vector<TopicPartition>& partitions) {
    // The end before the start would allow a start beyond the end.
    const auto starts = look_up_ends(connection_, partitions, End::start, deadline_);
    const auto ends = starts ? look_up_ends(connection_, partitions, End::last, deadline_) : starts;
    for (const auto& at : partitions) {
      auto& bounds = bounds_.at(at);
      bounds.problem.reset();
      if (!ends) {
        bounds.problem = ends.error();
        continue;
      }
      bounds.start = starts.value().at(at);
      bounds.last_stable = ends.value().at(at);
    }
    return bool{ends};
  }

  void look_at_offsets() {
    std::vector<OffsetsQuestion> questions;
    std::vector<std::size_t> numbers;
    offsets_.resize(request_.groups.size());
    for (std::size_t i = 0; i < request_.groups.size(); ++i) {
      if (!chosen_[i].empty()) {
        questions.push_back({request_.groups[i].group, chosen_[i]});
        numbers.push_back(i);
      }
    }
    const Deadline stable_by{stable_max};
    Backoff backoff;
    for (;;) {
      auto answers = ask_offsets(connection_, questions, true, deadline_);
      std::vector<OffsetsQuestion> unstable;
      std::vector<std::size_t> unstable_numbers;
      for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i].is_unstable()) {
          unstable.push_back(questions[i]);
          unstable_numbers.push_back(numbers[i]);
        }
        offsets_[numbers[i]] = std::move(answers[i]);
      }
      if (unstable.empty() || !request_.until_stable || deadline_.has_passed() ||
          !backoff.pause(stable_by)) {
        return;
      }
      questions = std::move(unstable);
      numbers = std::move(unstable_numbers);
    }
  }

  std::vector<GroupId> group_ids() const {
    std::vector<GroupId> ids;
    for (const auto& query : request_.groups) {
      ids.push_back(query.group);
    }
    return ids;
  }

  Result<port::Observation> answer() const {
    port::Observation observation;
    observation.at = wall_clock();
    bool nothing_seen = true;
    for (std::size_t i = 0; i < request_.groups.size(); ++i) {
      observation.groups.push_back(view_of(i));
      const auto& problem = observation.groups.back().problem;
      nothing_seen = nothing_seen && problem && problem->errc == Errc::unreachable;
    }
    if (nothing_seen) {
      return *observation.groups.front().problem;
    }
    return observation;
  }

  port::GroupView view_of(std::size_t number) const {
    port::GroupView view;
    view.group = request_.groups[number].group;
    bool has_offsets = false;
    for (const auto& at : chosen_[number]) {
      view.partitions.push_back(partition_view(number, at));
      has_offsets = has_offsets || view.partitions.back().committed;
    }
    judge_group(view, has_offsets);
    if (!view.problem) {
      view.problem = offsets_[number].problem;
    }
    for (const auto& topic : request_.groups[number].topics) {
      if (const auto& shape = shapes_.at(topic.name); !view.problem && !shape) {
        view.problem = shape.error();
      }
    }
    return view;
  }

  void judge_group(port::GroupView& view, bool has_offsets) const {
    const auto& described = groups_.described.at(view.group);
    if (!described) {
      view.problem = described.error();
      return;
    }
    const auto listed = groups_.listed.find(view.group);
    const bool is_listed = listed != groups_.listed.end();
    if (needs_the_listing(described.value()) && !is_listed && groups_.listing_problem) {
      view.problem = groups_.listing_problem;
      return;
    }
    auto seen = judge_state(described.value(),
                            is_listed ? std::optional{listed->second} : std::nullopt, has_offsets);
    view.state = seen.state;
    view.state_name = std::move(seen.name);
    view.members = std::move(seen.members);
    view.held_by_us = seen.held_by_us;
  }

  port::PartitionView partition_view(std::size_t number, const TopicPartition& at) const {
    port::PartitionView view;
    view.at = at;
    const auto& bounds = bounds_.at(at);
    view.start = bounds.start;
    view.last_stable = bounds.last_stable;
    view.problem = bounds.problem;
    if (view.problem) {
      return view;
    }
    if (offsets_[number].problem) {
      view.problem = offsets_[number].problem;
      return view;
    }
    const auto found = offsets_[number].partitions.find(at);
    if (found == offsets_[number].partitions.end()) {
      view.problem = error(Errc::retriable, "no offset of " + name_of(at) + " came back");
    } else if (found->second.error == RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT) {
      view.problem = error(Errc::retriable, "group '" + request_.groups[number].group.value() +
                                                "' has a transaction pending on " + name_of(at));
    } else if (found->second.error != RD_KAFKA_RESP_ERR_NO_ERROR) {
      view.problem = failure(found->second.error, name_of(at));
    } else {
      view.committed = found->second.committed;
    }
    return view;
  }

  const Connection& connection_;
  const port::ObserveRequest& request_;
  const Deadline& deadline_;
  std::map<TopicName, Result<TopicShape>> shapes_;
  std::vector<std::vector<TopicPartition>> chosen_;  // of each group, sorted
  std::map<TopicPartition, Bounds> bounds_;
  std::vector<OffsetsSeen> offsets_;  // of each group
  GroupsSeen groups_;
};

}  // namespace

Result<port::Observation> look_at_groups(const Connection& connection,
                                         const port::ObserveRequest& request,
                                         const Deadline& deadline) {
  return Look{connection, request, deadline}.run();
}

Result<std::vector<TopicSelection>> look_up_committed_topics(const Connection& connection,
                                                             const GroupId& group,
                                                             const Deadline& deadline) {
  BOOST_OUTCOME_TRY(connection.reach("group '" + group.value() + "'", deadline));
  const auto answers = ask_offsets(connection, {{group, {}}}, false, deadline);
  if (answers.front().problem) {
    return *answers.front().problem;
  }
  std::vector<TopicSelection> topics;
  for (const auto& [at, seen] : answers.front().partitions) {
    if (!seen.committed) {
      continue;
    }
    if (topics.empty() || topics.back().name != at.topic) {
      topics.push_back({at.topic, {}});
    }
    topics.back().partitions.push_back(at.partition);
  }
  return topics;
}

Result<EngineGroup> look_up_engine_group(const Connection& connection,
                                         const TopicName& control_topic, const Deadline& deadline) {
  BOOST_OUTCOME_TRY(const EventHandle event,
                    describe_group(connection, engine_group_of(control_topic), deadline));
  std::size_t count = 0;
  const auto* const group = rd_kafka_DescribeConsumerGroups_result_groups(
      rd_kafka_event_DescribeConsumerGroups_result(event.get()), &count)[0];
  return EngineGroup{members_of(group), owner_of(group, {control_topic, 0})};
}

GroupId engine_group_of(const TopicName& control_topic) {
  return GroupId{"flow-engine." + control_topic.value()};
}

}  // namespace flow::kafka
