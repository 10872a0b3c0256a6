#include "connectors/kafka/leadership.h"

#include <algorithm>
#include <utility>

#include "connectors/kafka/group_look.h"
#include "connectors/kafka/log.h"
#include "connectors/kafka/transaction.h"

namespace flow::kafka {

using boost::asio::awaitable;

namespace {

const Duration wait_max{5'000};
// An engine whose loop hangs gives way after this time; changed_from asks every wait_max. It is
// also how long librdkafka waits for the answer to a JoinGroup (and 3 s more), so a lone engine
// whose answer is lost on a connection that stays open leads that much later.
const Duration max_poll_interval{20'000};
const Duration confirm_max{5'000};
const Duration leave_max{5'000};
constexpr int warning_level = 4;
constexpr int info_level = 6;

}  // namespace

GroupLeadership::GroupLeadership(const boost::asio::any_io_executor& loop,
                                 std::shared_ptr<Shared> shared, std::string member_client_id)
    : shared_{std::move(shared)}, client_id_{std::move(member_client_id)}, pump_{loop} {}

void GroupLeadership::ensure_joined() {
  if (membership_ != nullptr || is_left_) {
    return;
  }
  auto opened = GroupMembership::open(shared_->config, client_id_, engine_group_of(shared_->topic),
                                      Assignor::cooperative_sticky, max_poll_interval);
  if (!opened) {
    tell(opened.error());
    return;
  }
  membership_ = std::move(opened.value());
  membership_->wake(pump_.descriptor(), std::string(1, '\0'));
  if (const auto begun = membership_->subscribe({shared_->topic}); !begun) {
    tell(begun.error());
  }
}

// Nobody waits for the membership's errors as for an answer. A broker that is away is told by
// whoever asks it something; what keeps this engine from ever leading has to be told here, once.
void GroupLeadership::tell(const Error& problem) {
  const bool passes = problem.errc == Errc::unreachable || problem.errc == Errc::retriable;
  if (passes || problem.detail == told_) {
    log_line(info_level, client_id_, problem.detail);
    return;
  }
  told_ = problem.detail;
  log_line(warning_level, client_id_, "cannot join the engines' group: " + problem.detail);
}

// One at a time: a leader that was deposed and made leader again has to hear of both.
bool GroupLeadership::take_change() {
  const auto change = membership_ == nullptr ? std::nullopt : membership_->next();
  if (!change) {
    return false;
  }
  const auto role_with = [this](const std::vector<TopicPartition>& mine) {
    const TopicPartition throne{shared_->topic, 0};
    return std::find(mine.begin(), mine.end(), throne) == mine.end() ? port::Role::follower
                                                                     : port::Role::leader;
  };
  if (const auto* const assigned = std::get_if<GroupMembership::Assigned>(&*change)) {
    role_ = role_with(assigned->partitions);
    membership_->accept();
    told_.clear();
  } else if (const auto* const revoked = std::get_if<GroupMembership::Revoked>(&*change)) {
    role_ = role_with(revoked->left);
    membership_->give_up();
  } else if (const auto* const wrong = std::get_if<Error>(&*change)) {
    tell(*wrong);
  } else {
    log_line(warning_level, client_id_,
             "joining group '" + membership_->group().value() +
                 "': its members have another assignor (INCONSISTENT_GROUP_PROTOCOL); is something "
                 "that is no engine "
                 "in it?");
  }
  return true;
}

awaitable<port::Role> GroupLeadership::changed_from(port::Role current) {
  for (;;) {
    ensure_joined();
    while (role_ == current && take_change()) {
    }
    if (role_ != current) {
      co_return role_;
    }
    co_await pump_.wait(wait_max);
    const bool cancelled = co_await is_cancelled();
    if (cancelled) {
      co_return role_;
    }
  }
}

awaitable<Result<bool>> GroupLeadership::confirm(LogPosition position) {
  if (membership_ == nullptr || role_ != port::Role::leader) {
    co_return false;
  }
  auto work = [membership = membership_, at = TopicPartition{shared_->topic, 0}, position] {
    return membership->commit(at, position.value(), Deadline{confirm_max});
  };
  co_return co_await run_blocking(*shared_->pool, std::move(work));
}

awaitable<Result<port::GuardSupport>> GroupLeadership::probe_guard() {
  if (shared_->producer == nullptr) {
    co_return error(Errc::retriable, "trying a guarded commit: the producer has not been opened");
  }
  auto work = [producer = shared_->producer, group = engine_group_of(shared_->topic)] {
    return probe_guarded_commit(*producer, group);
  };
  co_return co_await run_blocking(*shared_->pool, std::move(work));
}

awaitable<void> GroupLeadership::leave() {
  is_left_ = true;
  role_ = port::Role::follower;
  auto membership = std::exchange(membership_, nullptr);
  if (membership == nullptr) {
    co_return;
  }
  membership->begin_to_leave();
  for (const Deadline until{leave_max};;) {
    while (membership->next()) {
      membership->give_up();
    }
    if (membership->has_left() || until.has_passed()) {
      break;
    }
    co_await pump_.wait(Duration{until.left_ms()});
  }
  auto work = [membership = std::move(membership)]() mutable {
    membership.reset();
    return true;
  };
  co_await run_blocking(*shared_->pool, std::move(work));
}

}  // namespace flow::kafka
