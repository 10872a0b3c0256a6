#pragma once

#include <optional>
#include <span>
#include <string>

#include "schemas/log_record.h"

namespace flow::store {

// A record that a store has applied and that its log must still show.
struct Anchor {
  LogPosition position;
  std::string key;
  std::string value;
  friend bool operator==(const Anchor&, const Anchor&) = default;
};

// Whether a log that is read from the anchor's position on is the one that the store was read from;
// nothing where `records` do not tell, and false where none of them did up to the log's end.
// Compaction takes a record away only for a later one of its key.
std::optional<bool> stands_in(std::span<const LogRecord> records, const Anchor& anchor);

}  // namespace flow::store
