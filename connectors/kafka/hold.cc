#include "connectors/kafka/hold.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <set>

#include "connectors/kafka/lookups.h"

namespace flow::kafka {
namespace {

const Duration leave_max{5'000};
// While it holds, nobody asks for changes; the engine releases it long before.
const Duration max_poll_interval{86'400'000};

// Tells which of many members something has happened to: librdkafka writes the member's number.
class Bell {
 public:
  Bell() {
    const int failed = ::pipe2(ends_.data(), O_NONBLOCK | O_CLOEXEC);
    FLOW_ASSERT(failed == 0, std::string{"pipe2: "} + std::strerror(errno));
  }
  ~Bell() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  void attach(GroupMembership& member, std::uint32_t number) const {
    std::string bytes(sizeof number, '\0');
    std::memcpy(bytes.data(), &number, sizeof number);
    member.wake(ends_[1], bytes);
  }

  // Numbers of the members that have something to say; none when the deadline has passed.
  std::set<std::uint32_t> wait(const Deadline& deadline) const {
    pollfd readable{ends_[0], POLLIN, 0};
    ::poll(&readable, 1, deadline.left_ms());
    std::set<std::uint32_t> numbers;
    std::uint32_t number = 0;
    while (::read(ends_[0], &number, sizeof number) == sizeof number) {
      numbers.insert(number);
    }
    return numbers;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

Result<std::size_t> count_partitions(const Connection& lookups,
                                     const std::vector<TopicName>& topics,
                                     const Deadline& deadline) {
  std::size_t count = 0;
  for (const auto& topic : topics) {
    BOOST_OUTCOME_TRY(const auto shape, look_up_topic(lookups, topic, deadline));
    count += shape.partitions.size();
  }
  return count;
}

std::vector<TopicName> topics_of(const port::GroupQuery& query) {
  std::set<TopicName> names;
  for (const auto& topic : query.topics) {
    names.insert(topic.name);
  }
  return {names.begin(), names.end()};
}

}  // namespace

struct GroupHold::Members {
  struct One {
    std::unique_ptr<GroupMembership> membership;
    std::size_t partitions = 0;  // of the topics that it is subscribed to
  };

  // Leaves, side by side; what has not been left by the deadline ends with its session.
  void leave(const Deadline& deadline) {
    for (auto& one : all) {
      one.membership->begin_to_leave();
    }
    while (!has_everybody_left() && !deadline.has_passed()) {
      bell.wait(deadline);
    }
  }

  bool has_everybody_left() {
    bool all_left = true;
    for (auto& one : all) {
      while (one.membership->next()) {
        one.membership->give_up();  // what closing waits for
      }
      all_left = all_left && one.membership->has_left();
    }
    return all_left;
  }

  Bell bell;  // outlives the clients that ring it
  std::vector<One> all;
};

GroupHold::GroupHold(std::shared_ptr<BlockingPool> pool)
    : pool_{std::move(pool)}, members_{std::make_shared<Members>()} {}

Result<std::shared_ptr<GroupHold>> GroupHold::join(const ClientConfig& config,
                                                   const std::string& client_id,
                                                   const Connection& lookups,
                                                   const std::vector<port::GroupQuery>& groups,
                                                   std::shared_ptr<BlockingPool> pool,
                                                   const Deadline& deadline) {
  std::shared_ptr<GroupHold> hold{new GroupHold{std::move(pool)}};
  auto joined = hold->subscribe(config, client_id, lookups, groups, deadline);
  if (joined) {
    joined = hold->await_assignments(deadline);
  }
  if (!joined) {
    hold->leave(Deadline{leave_max});
    return joined.error();
  }
  // What happens from now on is left unanswered until we leave: that is what holds the groups.
  return hold;
}

Result<void> GroupHold::subscribe(const ClientConfig& config, const std::string& client_id,
                                  const Connection& lookups,
                                  const std::vector<port::GroupQuery>& groups,
                                  const Deadline& deadline) {
  for (const auto& query : groups) {
    const auto topics = topics_of(query);
    BOOST_OUTCOME_TRY(const auto partitions, count_partitions(lookups, topics, deadline));
    BOOST_OUTCOME_TRY(auto membership, GroupMembership::open(config, client_id, query.group,
                                                             Assignor::range, max_poll_interval));
    members_->bell.attach(*membership, static_cast<std::uint32_t>(members_->all.size()));
    members_->all.push_back({std::move(membership), partitions});
    BOOST_OUTCOME_TRY(members_->all.back().membership->subscribe(topics));
  }
  return boost::outcome_v2::success();
}

Result<void> GroupHold::await_assignments(const Deadline& deadline) {
  std::optional<Error> last;
  while (metadata_.size() < members_->all.size()) {
    for (const auto number : members_->bell.wait(deadline)) {
      while (const auto change = members_->all[number].membership->next()) {
        const auto taken = take(number, *change);
        if (!taken && std::holds_alternative<Error>(*change) &&
            taken.error().errc != Errc::refused) {
          last = taken.error();  // librdkafka goes on trying
        } else if (!taken) {
          return taken.error();
        }
      }
    }
    if (deadline.has_passed()) {
      return error(Errc::retriable, last ? last->detail
                                         : "joining the groups took longer than " +
                                               std::to_string(deadline.asked().value() / 1000) +
                                               " s");
    }
  }
  return boost::outcome_v2::success();
}

Result<void> GroupHold::take(std::size_t number, const GroupMembership::Change& change) {
  if (const auto* const wrong = std::get_if<Error>(&change)) {
    return *wrong;
  }
  auto& one = members_->all[number];
  if (std::holds_alternative<GroupMembership::OtherProtocol>(change)) {
    return error(Errc::retriable, "group '" + one.membership->group().value() +
                                      "' cannot be held: it is in use by another protocol "
                                      "(INCONSISTENT_GROUP_PROTOCOL), or is "
                                      "not a consumer group");
  }
  const auto* const assigned = std::get_if<GroupMembership::Assigned>(&change);
  if (assigned == nullptr || assigned->partitions.size() != one.partitions) {
    return error(Errc::retriable, "group '" + one.membership->group().value() +
                                      "' cannot be held: somebody else is or came in");
  }
  one.membership->accept();
  auto metadata = one.membership->metadata();
  if (metadata == nullptr) {
    return error(Errc::retriable, "group '" + one.membership->group().value() +
                                      "' cannot be held: the membership has ended");
  }
  metadata_[one.membership->group()] = std::move(metadata);
  return boost::outcome_v2::success();
}

GroupHold::~GroupHold() {
  if (members_->all.empty()) {
    return;
  }
  // Not here: this may be the loop's thread.
  boost::asio::post(*pool_, [members = std::move(members_)] {
    members->leave(Deadline{leave_max});
    members->all.clear();
  });
}

const rd_kafka_consumer_group_metadata_t* GroupHold::metadata_of(const GroupId& group) const {
  const auto found = metadata_.find(group);
  return found == metadata_.end() ? nullptr : found->second.get();
}

void GroupHold::leave(const Deadline& deadline) {
  members_->leave(deadline);
  metadata_.clear();
}

}  // namespace flow::kafka
