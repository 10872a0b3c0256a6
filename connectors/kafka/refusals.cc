#include "connectors/kafka/refusals.h"

#include <set>

#include "connectors/kafka/errors.h"

namespace flow::kafka {
namespace {

// Codes that librdkafka 2.0.2 has no names for.
constexpr int fenced_member_epoch = 110;
constexpr int unreleased_instance_id = 111;
constexpr int stale_member_epoch = 113;

std::string place(const TopicPartition& at) {
  return "'" + at.topic.value() + "' partition " + std::to_string(at.partition);
}

// The broker does not say which of them it means.
std::string topics_of(const port::GroupMove& move) {
  std::set<TopicName> names;
  for (const auto& commit : move.commits) {
    names.insert(commit.at.topic);
  }
  std::string text = names.size() == 1 ? "topic " : "one of the topics ";
  for (const auto& name : names) {
    text += (text.ends_with(' ') ? "'" : ", '") + name.value() + "'";
  }
  return text;
}

std::string words(const std::optional<Committed>& committed) {
  if (!committed) {
    return "no offset";
  }
  std::string text = "offset " + std::to_string(committed->offset);
  if (!committed->metadata.empty()) {
    text += " (metadata '" + committed->metadata + "')";
  }
  return text;
}

}  // namespace

bool is_about_membership(rd_kafka_resp_err_t code) {
  switch (static_cast<int>(code)) {
    case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID:
    case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION:
    case RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
    case fenced_member_epoch:
    case unreleased_instance_id:
    case stale_member_epoch:
      return true;
    default:
      return false;
  }
}

std::optional<port::GroupRefusal> refusal_of(rd_kafka_resp_err_t code,
                                             const port::GroupMove& move) {
  const GroupId& group = move.group;
  const std::string name = "group '" + group.value() + "'";
  if (is_about_membership(code)) {
    return port::GroupRefusal{
        group, port::RefusalKind::has_member,
        name + " has a member: the broker refused its offsets (" + reason(code) + ")"};
  }
  switch (static_cast<int>(code)) {
    case RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND:
      return port::GroupRefusal{group, port::RefusalKind::permanent,
                                name + " is not a consumer group (" + reason(code) + ")"};
    case RD_KAFKA_RESP_ERR_INVALID_GROUP_ID:
      return port::GroupRefusal{group, port::RefusalKind::permanent, name + ": " + reason(code)};
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
      return port::GroupRefusal{group, port::RefusalKind::permanent,
                                "not authorised: Read on " + name};
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
      return port::GroupRefusal{group, port::RefusalKind::permanent,
                                "not authorised: Read on " + topics_of(move)};
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
      return port::GroupRefusal{group, port::RefusalKind::permanent,
                                name + ": no such topic or partition among " + topics_of(move)};
    case RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_COMMIT_OFFSET_SIZE:
      return port::GroupRefusal{group, port::RefusalKind::permanent, name + ": " + reason(code)};
    default:
      return std::nullopt;
  }
}

std::optional<port::GroupRefusal> compare_before(const port::GroupMove& move,
                                                 const std::map<TopicPartition, OffsetSeen>& now) {
  for (const auto& before : move.before) {
    const auto found = now.find(before.at);
    if (found == now.end() || found->second.error != RD_KAFKA_RESP_ERR_NO_ERROR) {
      const auto why = found == now.end() ? std::string{"no answer"} : reason(found->second.error);
      return port::GroupRefusal{move.group, port::RefusalKind::changed,
                                "the offset of " + place(before.at) +
                                    " cannot be read again right before the move: " + why};
    }
    if (found->second.committed != before.committed) {
      return port::GroupRefusal{move.group, port::RefusalKind::changed,
                                place(before.at) + " had " + words(before.committed) + ", now " +
                                    words(found->second.committed)};
    }
  }
  return std::nullopt;
}

std::optional<std::string> negative_offset(const port::Transaction& transaction) {
  for (const auto& move : transaction.moves) {
    for (const auto& commit : move.commits) {
      if (commit.offset < 0) {
        return "group '" + move.group.value() + "': offset " + std::to_string(commit.offset) +
               " for " + place(commit.at) + " is negative";
      }
    }
  }
  return std::nullopt;
}

}  // namespace flow::kafka
