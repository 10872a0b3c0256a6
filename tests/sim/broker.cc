#include "tests/sim/broker.h"

#include <algorithm>

#include "tests/sim/faults.h"

namespace flow::sim {

bool Broker::is_over(std::int64_t epoch) const {
  return epoch != epoch_ && !is_faulty(Fault::no_fencing);
}

Broker::Opened Broker::open_producer(int process) {
  const bool keeps_epoch = is_faulty(Fault::same_producer) && epoch_process_ == process;
  if (open_ && !open_->ending) {
    epoch_ += keeps_epoch ? 0 : 1;  // nothing more of it can happen
    decide(false);
  }
  if (open_) {
    return {Answer::busy, 0};
  }
  epoch_ += keeps_epoch ? 0 : 1;
  epoch_process_ = process;
  return {Answer::ok, epoch_};
}

Answer Broker::write(int process, std::int64_t epoch,
                     const std::vector<port::EncodedRecord>& records,
                     std::vector<LogPosition>* positions) {
  if (is_over(epoch)) {
    return Answer::fenced;
  }
  if (open_ && open_->ending) {
    return Answer::busy;
  }
  if (!open_) {
    open_.emplace();
    open_->id = ++transactions_;
    open_->process = process;
    open_->epoch = epoch;
    clock_.after(transaction_timeout.value() * ms, [this, id = open_->id] {
      if (open_ && open_->id == id && !open_->ending) {
        ++epoch_;
        decide(false);
      }
    });
  }
  for (const auto& record : records) {
    const auto position = topic_.append(record, open_->id);
    open_->records.push_back({position, record});
    if (positions != nullptr) {
      positions->emplace_back(position);
    }
  }
  return Answer::ok;
}

Answer Broker::send_offsets(std::int64_t epoch, const port::GroupMove& move,
                            const std::string& member) {
  if (is_over(epoch)) {
    return Answer::fenced;
  }
  if (!open_ || open_->ending) {
    return Answer::not_begun;
  }
  Group& group = groups_[move.group];
  const bool no_topic = std::any_of(
      move.commits.begin(), move.commits.end(),
      [&](const port::PartitionCommit& commit) { return !groups_.topics().contains(commit.at); });
  if (group.foreign_kind || group.forbidden || no_topic) {
    return Answer::permanent;
  }
  const bool known = member.empty() ? group.members.empty() : group.members.contains(member);
  const bool checks = !member.empty() || (checks_guard && !is_faulty(Fault::guard_before_only));
  if (checks && !known) {
    return Answer::has_member;
  }
  open_->offsets.push_back(groups_.send(move.group, move.commits, open_->id, !member.empty()));
  return Answer::ok;
}

Answer Broker::end(std::int64_t epoch, bool commit) {
  if (is_over(epoch)) {
    return Answer::fenced;
  }
  if (!open_ || open_->ending) {
    return Answer::not_begun;
  }
  decide(commit);
  return Answer::ok;
}

void Broker::decide(bool commit) {
  open_->ending = true;
  open_->committed = commit;
  if (commit && on_commit) {
    on_commit(*open_);
  }
  write_markers();
}

// A commit is decided before its markers are written; they come to the partitions at different
// times, in any order.
void Broker::write_markers() {
  auto& random = clock_.random();
  const bool slow = random.chance(5);
  const Micros longest = slow ? 3 * seconds : 8 * ms;
  const int id = open_->id;
  const auto count_down = [this] {
    if (--open_->markers == 0) {
      open_.reset();
    }
  };
  open_->markers = 1 + open_->offsets.size();
  clock_.after(random.between(0, longest), [this, id, count_down] {
    topic_.end(id, open_->committed);
    count_down();
  });
  for (const auto& sent : open_->offsets) {
    clock_.after(random.between(0, longest), [this, id, group = sent.group, count_down] {
      groups_.end(group, id, open_->committed);
      count_down();
    });
  }
}

void Broker::join(int process) {
  if (!is_member(process)) {
    members_.push_back(process);
    choose_owner();
  }
}

void Broker::drop(int process) {
  if (!is_member(process)) {
    return;
  }
  std::erase(members_, process);
  if (owner_ == process) {
    owner_.reset();
    choose_owner();
  }
}

bool Broker::is_member(int process) const {
  return std::find(members_.begin(), members_.end(), process) != members_.end();
}

// Cooperative and sticky: an owner that is still a member keeps its partition.
void Broker::choose_owner() {
  clock_.after(clock_.between(50 * ms, 1 * seconds), [this, rebalance = ++rebalances_] {
    if (rebalance == rebalances_ && !owner_ && !members_.empty()) {
      owner_ = members_[clock_.random().below(members_.size())];
    }
  });
}

}  // namespace flow::sim
