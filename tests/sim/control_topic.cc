#include "tests/sim/control_topic.h"

#include <algorithm>

namespace flow::sim {

std::int64_t ControlTopic::append(const port::EncodedRecord& record, int transaction) {
  const std::int64_t position = end_position();
  entries_.push_back({clock_.instant(), record.key, record.value,
                      transaction == 0 ? State::visible : State::pending, transaction,
                      clock_.now()});
  if (transaction != 0) {
    open_.emplace(transaction, position);
  } else if (on_change) {
    on_change();
  }
  return position;
}

void ControlTopic::end(int transaction, bool committed) {
  const auto open = open_.find(transaction);
  if (open == open_.end()) {
    return;
  }
  for (auto at = static_cast<std::size_t>(open->second); at < entries_.size(); ++at) {
    if (entries_[at].transaction == transaction && entries_[at].state == State::pending) {
      entries_[at].state = committed ? State::visible : State::aborted;
    }
  }
  open_.erase(open);
  entries_.push_back({clock_.instant(), {}, {}, State::marker, transaction, clock_.now()});
  if (on_change) {
    on_change();
  }
}

std::int64_t ControlTopic::last_stable() const {
  std::int64_t stable = end_position();
  for (const auto& [transaction, first] : open_) {
    stable = std::min(stable, first);
  }
  return stable;
}

void ControlTopic::compact(std::int64_t up_to, bool drop_tombstones, Duration retention) {
  const auto end = static_cast<std::size_t>(std::clamp<std::int64_t>(up_to, 0, last_stable()));
  std::map<std::string_view, std::size_t> last;
  for (std::size_t at = 0; at < end; ++at) {
    if (entries_[at].state == State::visible) {
      last[entries_[at].key] = at;
    }
  }
  for (std::size_t at = 0; at < end; ++at) {
    auto& entry = entries_[at];
    const bool old = clock_.now() - entry.appended > retention.value() * ms;
    const bool stays = entry.state == State::visible && last.at(entry.key) == at &&
                       (entry.value || !drop_tombstones || !old);
    if (!stays) {
      entry.state = State::gone;
    }
  }
}

}  // namespace flow::sim
