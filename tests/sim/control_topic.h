#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/ports/values.h"
#include "tests/sim/clockwork.h"

namespace flow::sim {

// The one partition of the control topic as a broker keeps it: transactions whose records are
// hidden until their marker, a last stable offset, compaction.
class ControlTopic {
 public:
  enum class State : std::uint8_t { pending, visible, aborted, marker, gone };

  struct Entry {
    Instant timestamp;
    std::string key;
    std::optional<std::string> value;
    State state = State::visible;
    int transaction = 0;
    Micros appended = 0;
  };

  explicit ControlTopic(Clockwork& clock) : clock_(clock) {}

  // Appends a record, of an open transaction where `transaction` is not 0; returns its position.
  std::int64_t append(const port::EncodedRecord& record, int transaction);
  // The marker that ends `transaction`: its records become visible, or are never seen.
  void end(int transaction, bool committed);

  // What a log cleaner may do to the first `up_to` positions: of each key the last record there
  // stays, at its position; aborted records and markers vanish; tombstones older than
  // `retention` vanish where `drop_tombstones`.
  void compact(std::int64_t up_to, bool drop_tombstones, Duration retention);

  std::int64_t end_position() const { return static_cast<std::int64_t>(entries_.size()); }
  std::int64_t last_stable() const;
  const std::vector<Entry>& entries() const { return entries_; }

  // Called whenever readers may see more than before.
  std::function<void()> on_change;

 private:
  Clockwork& clock_;
  std::vector<Entry> entries_;        // by position
  std::map<int, std::int64_t> open_;  // of each open transaction, its first position
};

}  // namespace flow::sim
