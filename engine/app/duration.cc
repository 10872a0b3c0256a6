#include "engine/app/duration.h"

#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

namespace flow::app {
namespace {

constexpr std::int64_t second_ms = 1'000;
constexpr std::int64_t minute_ms = 60 * second_ms;
constexpr std::int64_t hour_ms = 60 * minute_ms;
constexpr std::int64_t day_ms = 24 * hour_ms;
constexpr std::int64_t duration_max_ms = 36'525 * day_ms;  // a hundred years

constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> short_units{{
    {"ms", 1},
    {"s", second_ms},
    {"m", minute_ms},
    {"h", hour_ms},
    {"d", day_ms},
}};

Error not_a_duration(std::string_view text, const std::string& why = {}) {
  return error(Errc::invalid, "'" + std::string{text} + "' is no duration" +
                                  (why.empty() ? "" : ": " + why) +
                                  "; write for example 90s, 30m, 24h, 7d or P1DT12H");
}

// Adds `count` units to `total`; false where it becomes too long.
bool add(std::int64_t& total, std::int64_t count, std::int64_t unit_ms) {
  if (count > duration_max_ms / unit_ms) return false;
  total += count * unit_ms;
  return total <= duration_max_ms;
}

std::optional<std::int64_t> take_number(std::string_view& rest) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (problem != std::errc{} || rest.front() == '-') return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return number;
}

Result<std::int64_t> parse_short(std::string_view text) {
  std::int64_t total = 0;
  std::int64_t smallest = duration_max_ms;  // units go from large to small, each once
  for (std::string_view rest = text; !rest.empty();) {
    const auto number = take_number(rest);
    if (!number) return not_a_duration(text);
    std::size_t length = 0;
    while (length < rest.size() && std::isalpha(static_cast<unsigned char>(rest[length])) != 0) {
      ++length;
    }
    const auto name = rest.substr(0, length);
    rest.remove_prefix(length);
    std::int64_t unit = 0;
    for (const auto& [known, unit_ms] : short_units) {
      if (known == name) unit = unit_ms;
    }
    if (name.empty()) return not_a_duration(text, "its unit is missing");
    if (unit == 0) return not_a_duration(text, "'" + std::string{name} + "' is no unit");
    if (unit >= smallest) return not_a_duration(text, "units go from large to small");
    smallest = unit;
    if (!add(total, *number, unit)) return not_a_duration(text, "longer than 100 years");
  }
  return total;
}

std::int64_t iso_unit(char designator, bool in_time) {
  if (in_time) {
    return designator == 'H'   ? hour_ms
           : designator == 'M' ? minute_ms
           : designator == 'S' ? second_ms
                               : 0;
  }
  return designator == 'W' ? 7 * day_ms : designator == 'D' ? day_ms : 0;
}

// A fraction is allowed of the seconds only; digits beyond the millisecond are cut.
std::int64_t take_fraction_ms(std::string_view& rest) {
  std::int64_t ms = 0;
  std::int64_t digit_ms = 100;
  rest.remove_prefix(1);
  while (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest.front())) != 0) {
    ms += (rest.front() - '0') * digit_ms;
    digit_ms /= 10;
    rest.remove_prefix(1);
  }
  return ms;
}

Result<std::int64_t> parse_iso(std::string_view text) {
  std::int64_t total = 0;
  std::int64_t smallest = duration_max_ms;
  bool in_time = false;
  std::string_view rest = text.substr(1);
  while (!rest.empty()) {
    if (rest.front() == 'T' && !in_time && rest.size() > 1) {
      in_time = true;
      rest.remove_prefix(1);
      continue;
    }
    const auto number = take_number(rest);
    if (!number || rest.empty()) return not_a_duration(text);
    const bool has_fraction = rest.front() == '.' || rest.front() == ',';
    const std::int64_t fraction_ms = has_fraction ? take_fraction_ms(rest) : 0;
    const char designator = rest.empty() ? '?' : rest.front();
    if (!in_time && (designator == 'Y' || designator == 'M')) {
      return not_a_duration(text, "months and years have no fixed length");
    }
    const std::int64_t unit = iso_unit(designator, in_time);
    if (unit == 0 || unit >= smallest || (has_fraction && unit != second_ms)) {
      return not_a_duration(text);
    }
    rest.remove_prefix(1);
    smallest = unit;
    if (!add(total, *number, unit)) return not_a_duration(text, "longer than 100 years");
    total += fraction_ms;
  }
  return total;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  if (text.empty()) return not_a_duration(text);
  if (text.front() == '-') return not_a_duration(text, "it is negative");
  BOOST_OUTCOME_TRY(const auto ms, text.front() == 'P' ? parse_iso(text) : parse_short(text));
  if (ms == 0) return not_a_duration(text, "it is no time at all");
  return Duration{ms};
}

std::string to_text(Duration duration) {
  std::string text;
  std::int64_t left = duration.value();
  for (auto unit = short_units.rbegin(); unit != short_units.rend(); ++unit) {
    if (left >= unit->second) {
      text += std::to_string(left / unit->second) + std::string{unit->first};
      left %= unit->second;
    }
  }
  return text.empty() ? "0s" : text;
}

}  // namespace flow::app
