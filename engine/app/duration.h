#pragma once

#include <string>
#include <string_view>

#include "schemas/error.h"
#include "schemas/ids.h"

namespace flow::app {

// Takes "90s", "30m", "24h", "7d", "500ms", several together ("1h30m"), or an ISO-8601 duration of
// weeks, days and times ("P1DT12H", "PT1.5S"). Returns it, longer than nothing and at most 100
// years. Errc::invalid: anything else; months and years have no fixed length and are refused by
// name. Pure.
Result<Duration> parse_duration(std::string_view text);

// "5m", "1h30m", "1s500ms": a text that parse_duration gives back.
std::string to_text(Duration duration);

}  // namespace flow::app
