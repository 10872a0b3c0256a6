#include "connectors/kafka/group_questions.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "connectors/kafka/errors.h"
#include "connectors/kafka/lookups.h"

namespace flow::kafka {
namespace {

Error group_failure(const Connection& connection, rd_kafka_resp_err_t code, const char* text,
                    const GroupId& group) {
  const std::string name = "group '" + group.value() + "'";
  switch (static_cast<int>(code)) {
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
      return error(Errc::refused, "not authorised: Describe on " + name);
    case RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND:
      return error(Errc::refused, name + " is not a consumer group");
    case RD_KAFKA_RESP_ERR__INVALID_ARG: {
      // librdkafka's word for a group of another protocol: "GroupId g is not a consumer group
      // (connect)."
      const std::string why = text == nullptr ? "" : text;
      const auto at = why.find("is not a consumer group");
      return error(Errc::refused,
                   at == std::string::npos ? name + ": " + why : name + " " + why.substr(at));
    }
    case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
    case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
      connection.retire();
      return connection.explain(code, name);
    default:
      return connection.explain(code, name);
  }
}

void read_offsets(const rd_kafka_topic_partition_list_t* list, OffsetsSeen& seen) {
  for (int i = 0; list != nullptr && i < list->cnt; ++i) {
    const auto& found = list->elems[i];
    OffsetSeen offset;
    offset.error = found.err;
    if (found.err == RD_KAFKA_RESP_ERR_NO_ERROR && found.offset >= 0) {
      const auto* const metadata = static_cast<const char*>(found.metadata);
      offset.committed =
          Committed{found.offset, metadata == nullptr ? std::string{}
                                                      : std::string{metadata, found.metadata_size}};
    }
    seen.partitions[TopicPartition{TopicName{found.topic}, found.partition}] = std::move(offset);
  }
}

void read_offsets_event(const Connection& connection, const rd_kafka_event_t* constant,
                        const GroupId& group, OffsetsSeen& seen) {
  auto* const event = const_cast<rd_kafka_event_t*>(constant);
  if (const auto code = rd_kafka_event_error(event); code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    seen.problem = group_failure(connection, code, rd_kafka_event_error_string(event), group);
    return;
  }
  std::size_t count = 0;
  const auto* const* groups = rd_kafka_ListConsumerGroupOffsets_result_groups(
      rd_kafka_event_ListConsumerGroupOffsets_result(event), &count);
  for (std::size_t i = 0; i < count; ++i) {
    if (const auto* const cause = rd_kafka_group_result_error(groups[i]); cause != nullptr) {
      seen.problem = group_failure(connection, rd_kafka_error_code(cause),
                                   rd_kafka_error_string(cause), group);
      return;
    }
    read_offsets(rd_kafka_group_result_partitions(groups[i]), seen);
  }
}

void ask_offsets_of(const Connection& connection, const OffsetsQuestion& question,
                    const AdminOptions& options, rd_kafka_queue_t* queue) {
  PartitionList list;
  if (!question.partitions.empty()) {
    list.reset(rd_kafka_topic_partition_list_new(static_cast<int>(question.partitions.size())));
    for (const auto& at : question.partitions) {
      rd_kafka_topic_partition_list_add(list.get(), at.topic.value().c_str(), at.partition);
    }
  }
  const OffsetsQuery query{
      rd_kafka_ListConsumerGroupOffsets_new(question.group.value().c_str(), list.get())};
  std::array<rd_kafka_ListConsumerGroupOffsets_t*, 1> queries{query.get()};
  rd_kafka_ListConsumerGroupOffsets(connection.handle(), queries.data(), queries.size(),
                                    options.get(), queue);
}

void read_description(const Connection& connection,
                      const rd_kafka_ConsumerGroupDescription_t* group, GroupsSeen& seen) {
  const GroupId id{rd_kafka_ConsumerGroupDescription_group_id(group)};
  if (const auto* const cause = rd_kafka_ConsumerGroupDescription_error(group);
      cause != nullptr && rd_kafka_error_code(cause) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    seen.described.insert_or_assign(id, group_failure(connection, rd_kafka_error_code(cause),
                                                      rd_kafka_error_string(cause), id));
    return;
  }
  seen.described.insert_or_assign(
      id, Described{rd_kafka_ConsumerGroupDescription_state(group), members_of(group)});
}

void read_descriptions(const Connection& connection, rd_kafka_event_t* event,
                       const std::set<GroupId>& asked, GroupsSeen& seen) {
  if (const auto code = rd_kafka_event_error(event); code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    for (const auto& group : asked) {
      seen.described.insert_or_assign(
          group, group_failure(connection, code, rd_kafka_event_error_string(event), group));
    }
    return;
  }
  std::size_t count = 0;
  const auto* const* groups = rd_kafka_DescribeConsumerGroups_result_groups(
      rd_kafka_event_DescribeConsumerGroups_result(event), &count);
  for (std::size_t i = 0; i < count; ++i) {
    read_description(connection, groups[i], seen);
  }
}

void read_listing(const Connection& connection, rd_kafka_event_t* event, GroupsSeen& seen) {
  if (const auto code = rd_kafka_event_error(event); code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    seen.listing_problem = connection.explain(code, "listing groups");
    return;
  }
  const auto* const result = rd_kafka_event_ListConsumerGroups_result(event);
  std::size_t count = 0;
  const auto* const* groups = rd_kafka_ListConsumerGroups_result_valid(result, &count);
  for (std::size_t i = 0; i < count; ++i) {
    seen.listed[GroupId{rd_kafka_ConsumerGroupListing_group_id(groups[i])}] =
        rd_kafka_ConsumerGroupListing_state(groups[i]);
  }
  const auto* const* causes = rd_kafka_ListConsumerGroups_result_errors(result, &count);
  if (count > 0) {
    seen.listing_problem = failure(causes[0], "listing groups");
  }
}

void list_groups(const Connection& connection, const Deadline& deadline, GroupsSeen& seen) {
  const AdminOptions options =
      admin_options(connection, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPS, deadline);
  const QueueHandle queue = connection.new_queue();
  rd_kafka_ListConsumerGroups(connection.handle(), options.get(), queue.get());
  for (Rounds rounds{deadline};;) {
    const EventHandle event =
        wait_for(queue.get(), RD_KAFKA_EVENT_LISTCONSUMERGROUPS_RESULT, rounds.next());
    if (event != nullptr) {
      read_listing(connection, event.get(), seen);
      return;
    }
    if (!rounds.again(connection)) {
      seen.listing_problem = connection.no_answer("listing groups", deadline.asked());
      return;
    }
  }
}

void describe_groups(const Connection& connection, const std::set<GroupId>& groups,
                     const Deadline& deadline, GroupsSeen& seen) {
  std::vector<const char*> names;
  names.reserve(groups.size());
  for (const auto& group : groups) {
    names.push_back(group.value().c_str());
  }
  const AdminOptions options =
      admin_options(connection, RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS, deadline);
  const QueueHandle queue = connection.new_queue();
  for (Rounds rounds{deadline};;) {
    rd_kafka_DescribeConsumerGroups(connection.handle(), names.data(), names.size(), options.get(),
                                    queue.get());
    const EventHandle event =
        wait_for(queue.get(), RD_KAFKA_EVENT_DESCRIBECONSUMERGROUPS_RESULT, rounds.next());
    if (event != nullptr) {
      read_descriptions(connection, event.get(), groups, seen);
      return;
    }
    if (!rounds.again(connection)) {
      return;
    }
  }
}

}  // namespace

bool OffsetsSeen::is_unstable() const {
  return std::any_of(partitions.begin(), partitions.end(), [](const auto& one) {
    return one.second.error == RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT;
  });
}

std::vector<OffsetsSeen> ask_offsets(const Connection& connection,
                                     const std::vector<OffsetsQuestion>& questions,
                                     bool require_stable, const Deadline& deadline) {
  std::vector<OffsetsSeen> answers(questions.size());
  std::vector<std::size_t> numbers(questions.size());  // librdkafka points at them
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  std::set<std::size_t> open(numbers.begin(), numbers.end());
  const QueueHandle queue = connection.new_queue();
  for (Rounds rounds{deadline}; !open.empty();) {
    for (const auto number : open) {
      const AdminOptions options =
          admin_options(connection, RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS, deadline);
      const ErrorHandle refused{
          rd_kafka_AdminOptions_set_require_stable_offsets(options.get(), require_stable ? 1 : 0)};
      rd_kafka_AdminOptions_set_opaque(options.get(), &numbers[number]);
      ask_offsets_of(connection, questions[number], options, queue.get());
    }
    for (const Deadline round = rounds.next(); !open.empty();) {
      const EventHandle event =
          wait_for(queue.get(), RD_KAFKA_EVENT_LISTCONSUMERGROUPOFFSETS_RESULT, round);
      if (event == nullptr) {
        break;
      }
      const auto number = *static_cast<const std::size_t*>(rd_kafka_event_opaque(event.get()));
      if (open.erase(number) == 1) {
        read_offsets_event(connection, event.get(), questions[number].group, answers[number]);
      }
    }
    if (!open.empty() && !rounds.again(connection)) {
      break;
    }
  }
  for (const auto number : open) {
    answers[number].problem = connection.no_answer(
        "offsets of group '" + questions[number].group.value() + "'", deadline.asked());
  }
  return answers;
}

GroupsSeen ask_groups(const Connection& connection, const std::vector<GroupId>& groups,
                      const Deadline& deadline) {
  GroupsSeen seen;
  // The broker takes no group twice.
  describe_groups(connection, {groups.begin(), groups.end()}, deadline, seen);
  for (const auto& group : groups) {
    seen.described.try_emplace(
        group, connection.no_answer("group '" + group.value() + "'", deadline.asked()));
  }
  const bool needs_listing = std::any_of(
      seen.described.begin(), seen.described.end(),
      [](const auto& one) { return one.second && needs_the_listing(one.second.value()); });
  if (needs_listing) {
    list_groups(connection, deadline, seen);
  }
  return seen;
}

std::optional<Member> owner_of(const rd_kafka_ConsumerGroupDescription_t* group,
                               const TopicPartition& at) {
  const auto members = members_of(group);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto* const assignment =
        rd_kafka_MemberDescription_assignment(rd_kafka_ConsumerGroupDescription_member(group, i));
    const auto* const list =
        assignment == nullptr ? nullptr : rd_kafka_MemberAssignment_partitions(assignment);
    for (int j = 0; list != nullptr && j < list->cnt; ++j) {
      if (at.topic.value() == list->elems[j].topic && at.partition == list->elems[j].partition) {
        return members[i];
      }
    }
  }
  return std::nullopt;
}

std::vector<Member> members_of(const rd_kafka_ConsumerGroupDescription_t* group) {
  const auto text = [](const char* value) { return std::string{value == nullptr ? "" : value}; };
  std::vector<Member> members;
  const std::size_t count = rd_kafka_ConsumerGroupDescription_member_count(group);
  for (std::size_t i = 0; i < count; ++i) {
    const auto* const found = rd_kafka_ConsumerGroupDescription_member(group, i);
    Member member;
    member.client_id = text(rd_kafka_MemberDescription_client_id(found));
    member.host = text(rd_kafka_MemberDescription_host(found));
    member.member_id = text(rd_kafka_MemberDescription_consumer_id(found));
    member.instance_id = text(rd_kafka_MemberDescription_group_instance_id(found));
    if (member.host.starts_with('/')) {  // Java's way to write an address that has no name
      member.host.erase(0, 1);
    }
    members.push_back(std::move(member));
  }
  return members;
}

Result<EventHandle> describe_group(const Connection& connection, const GroupId& group,
                                   const Deadline& deadline) {
  BOOST_OUTCOME_TRY(connection.reach("group '" + group.value() + "'", deadline));
  const QueueHandle queue = connection.new_queue();
  std::array<const char*, 1> names{group.value().c_str()};
  const AdminOptions options =
      admin_options(connection, RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS, deadline);
  EventHandle event;
  for (Rounds rounds{deadline}; event == nullptr;) {
    rd_kafka_DescribeConsumerGroups(connection.handle(), names.data(), names.size(), options.get(),
                                    queue.get());
    event = wait_for(queue.get(), RD_KAFKA_EVENT_DESCRIBECONSUMERGROUPS_RESULT, rounds.next());
    if (event == nullptr && !rounds.again(connection)) {
      return connection.no_answer("group '" + group.value() + "'", deadline.asked());
    }
  }
  if (const auto code = rd_kafka_event_error(event.get()); code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return group_failure(connection, code, rd_kafka_event_error_string(event.get()), group);
  }
  std::size_t count = 0;
  const auto* const* found = rd_kafka_DescribeConsumerGroups_result_groups(
      rd_kafka_event_DescribeConsumerGroups_result(event.get()), &count);
  if (count != 1) {
    return error(Errc::retriable, "group '" + group.value() + "': it was not described");
  }
  if (const auto* const cause = rd_kafka_ConsumerGroupDescription_error(found[0]);
      cause != nullptr && rd_kafka_error_code(cause) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return group_failure(connection, rd_kafka_error_code(cause), rd_kafka_error_string(cause),
                         group);
  }
  return event;
}

}  // namespace flow::kafka
