#pragma once

#include <string>
#include <string_view>

#include "schemas/error.h"
#include "schemas/ids.h"

namespace flow::app {

struct ParsedInstant {
  Instant at;
  bool without_zone = false;  // it had none, and UTC was taken
};

// Takes RFC 3339 text: a date, or a date and a time ("2025-03-01", "2025-03-01T08:30", seconds with
// any fraction, 'T' or a space between), with 'Z', "+hh:mm", "+hhmm" or "+hh". Without a zone it is
// UTC, whatever the machine's zone. Errc::invalid: anything else, also a day that does not exist.
// Pure.
Result<ParsedInstant> parse_instant(std::string_view text);

// "2025-03-01T08:30:00.123Z"
std::string to_text(Instant at);

// The same without the fraction, for tables.
std::string to_short_text(Instant at);

}  // namespace flow::app
