#pragma once

#include <optional>
#include <string_view>

#include "schemas/ids.h"

namespace flow {

// One record of the control topic as it was read. The views live as long as whatever it was read
// into.
struct LogRecord {
  LogPosition position;
  Instant timestamp;
  std::string_view key;
  std::optional<std::string_view> value;  // absent: a tombstone
};

}  // namespace flow
