#include "connectors/kafka/group_membership.h"

#include <set>

#include "connectors/kafka/errors.h"
#include "connectors/kafka/refusals.h"

namespace flow::kafka {
namespace {

Error member_failure(const Connection& connection, rd_kafka_resp_err_t code, const GroupId& group) {
  if (code == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED) {
    return error(Errc::refused, "not authorised: Read on group '" + group.value() + "'");
  }
  return connection.explain(code, "joining group '" + group.value() + "'");
}

}  // namespace

Result<std::unique_ptr<GroupMembership>> GroupMembership::open(const ClientConfig& config,
                                                               const std::string& client_id,
                                                               GroupId group, Assignor assignor,
                                                               Duration max_poll_interval) {
  std::unique_ptr<GroupMembership> member{new GroupMembership{std::move(group)}};
  const auto prepare = [](rd_kafka_conf_t* conf, void*) {
    rd_kafka_conf_set_events(
        conf, RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_OFFSET_COMMIT | RD_KAFKA_EVENT_ERROR);
  };
  // A static member would keep its place after it has left.
  ClientConfig without_instance = config;
  without_instance.settings.erase("group.instance.id");
  BOOST_OUTCOME_TRY(
      member->connection_,
      Connection::open(RD_KAFKA_CONSUMER, without_instance, client_id,
                       member_settings(member->group_.value(), assignor, max_poll_interval),
                       prepare));
  member->queue_.reset(rd_kafka_queue_get_consumer(member->connection_->handle()));
  return member;
}

GroupMembership::~GroupMembership() {
  if (queue_ != nullptr) {
    rd_kafka_queue_io_event_enable(queue_.get(), -1, nullptr, 0);
  }
}

void GroupMembership::wake(int descriptor, const std::string& bytes) {
  rd_kafka_queue_io_event_enable(queue_.get(), descriptor, bytes.data(), bytes.size());
}

Result<void> GroupMembership::subscribe(const std::vector<TopicName>& topics) {
  const PartitionList list{rd_kafka_topic_partition_list_new(static_cast<int>(topics.size()))};
  for (const auto& topic : topics) {
    rd_kafka_topic_partition_list_add(list.get(), topic.value().c_str(), RD_KAFKA_PARTITION_UA);
  }
  if (const auto code = rd_kafka_subscribe(connection_->handle(), list.get());
      code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return member_failure(*connection_, code, group_);
  }
  return boost::outcome_v2::success();
}

std::optional<GroupMembership::Change> GroupMembership::next() {
  for (;;) {
    const EventHandle event{rd_kafka_queue_poll(queue_.get(), 0)};
    if (event == nullptr) {
      return std::nullopt;
    }
    const auto code = rd_kafka_event_error(event.get());
    if (rd_kafka_event_type(event.get()) == RD_KAFKA_EVENT_ERROR) {
      if (code == RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL) {
        return OtherProtocol{};
      }
      return member_failure(*connection_, code, group_);
    }
    if (rd_kafka_event_type(event.get()) != RD_KAFKA_EVENT_REBALANCE) {
      continue;
    }
    const bool added = code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS;
    const auto* const list = rd_kafka_event_topic_partition_list(event.get());
    if (!is_cooperative()) {
      owned_.clear();
    }
    for (int i = 0; list != nullptr && i < list->cnt; ++i) {
      const TopicPartition at{TopicName{list->elems[i].topic}, list->elems[i].partition};
      std::erase(owned_, at);
      if (added) {
        owned_.push_back(at);
      }
    }
    if (added) {
      return Assigned{owned_};
    }
    return Revoked{owned_};
  }
}

// A member that has left has no protocol, and what happened before that may still be in the queue.
bool GroupMembership::is_cooperative() const {
  const char* const protocol = rd_kafka_rebalance_protocol(connection_->handle());
  return protocol != nullptr && std::string_view{protocol} == "COOPERATIVE";
}

// What is assigned is never taken up, so nothing of it has to be given back either.
void GroupMembership::accept() {
  const PartitionList none{rd_kafka_topic_partition_list_new(0)};
  if (is_cooperative()) {
    const ErrorHandle done{rd_kafka_incremental_assign(connection_->handle(), none.get())};
  } else {
    rd_kafka_assign(connection_->handle(), none.get());
  }
}

void GroupMembership::give_up() {
  if (is_cooperative()) {
    const PartitionList none{rd_kafka_topic_partition_list_new(0)};
    const ErrorHandle done{rd_kafka_incremental_unassign(connection_->handle(), none.get())};
  } else {
    rd_kafka_assign(connection_->handle(), nullptr);
  }
}

GroupMetadata GroupMembership::metadata() const {
  return GroupMetadata{rd_kafka_consumer_group_metadata(connection_->handle())};
}

Result<bool> GroupMembership::commit(const TopicPartition& at, std::int64_t offset,
                                     const Deadline& deadline) {
  const std::string what = "committing to group '" + group_.value() + "'";
  // Without a member id librdkafka would commit as nobody, which an empty group takes from anyone.
  char* const member_id = rd_kafka_memberid(connection_->handle());
  const bool is_member = member_id != nullptr && *member_id != '\0';
  if (member_id != nullptr) {
    rd_kafka_mem_free(connection_->handle(), member_id);
  }
  if (!is_member || rd_kafka_assignment_lost(connection_->handle()) != 0) {
    return false;
  }
  const PartitionList list{rd_kafka_topic_partition_list_new(1)};
  rd_kafka_topic_partition_list_add(list.get(), at.topic.value().c_str(), at.partition)->offset =
      offset;
  const QueueHandle queue = connection_->new_queue();
  if (const auto code =
          rd_kafka_commit_queue(connection_->handle(), list.get(), queue.get(), nullptr, nullptr);
      code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return failure(code, what);
  }
  const EventHandle event = wait_for(queue.get(), RD_KAFKA_EVENT_OFFSET_COMMIT, deadline);
  if (event == nullptr) {
    return connection_->no_answer(what, deadline.asked());
  }
  const auto code = rd_kafka_event_error(event.get());
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
    return true;
  }
  // While the group rebalances, nobody owns anything for certain: ask again.
  if (is_about_membership(code) && code != RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS) {
    return false;
  }
  return connection_->explain(code, what);
}

void GroupMembership::begin_to_leave() {
  if (is_leaving_) {
    return;
  }
  is_leaving_ = true;
  const ErrorHandle closed{rd_kafka_consumer_close_queue(connection_->handle(), queue_.get())};
}

bool GroupMembership::has_left() const {
  return rd_kafka_consumer_closed(connection_->handle()) != 0;
}

}  // namespace flow::kafka
