#include "engine/app/instant.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <optional>

namespace flow::app {
namespace {

Error not_an_instant(std::string_view text) {
  return error(Errc::invalid, "'" + std::string{text} +
                                  "' is no time; write for example 2025-03-01T08:30:00Z or "
                                  "2025-03-01T08:30:00+05:30");
}

// Takes exactly `digits` digits off the front.
std::optional<int> take_digits(std::string_view& rest, std::size_t digits) {
  if (rest.size() < digits) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (rest[i] < '0' || rest[i] > '9') return std::nullopt;
    value = value * 10 + (rest[i] - '0');
  }
  rest.remove_prefix(digits);
  return value;
}

bool take(std::string_view& rest, char c) {
  if (rest.empty() || rest.front() != c) return false;
  rest.remove_prefix(1);
  return true;
}

std::optional<std::int64_t> take_day_ms(std::string_view& rest) {
  const auto year = take_digits(rest, 4);
  const bool first = take(rest, '-');
  const auto month = take_digits(rest, 2);
  const bool second = take(rest, '-');
  const auto day = take_digits(rest, 2);
  if (!year || !first || !month || !second || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  return std::chrono::milliseconds{std::chrono::sys_days{date}.time_since_epoch()}.count();
}

// Digits beyond the millisecond are cut.
std::optional<std::int64_t> take_fraction_ms(std::string_view& rest) {
  std::int64_t ms = 0;
  std::int64_t digit_ms = 100;
  std::size_t digits = 0;
  while (const auto digit = take_digits(rest, 1)) {
    ms += *digit * digit_ms;
    digit_ms /= 10;
    ++digits;
  }
  return digits > 0 ? std::optional{ms} : std::nullopt;
}

std::optional<std::int64_t> take_time_ms(std::string_view& rest) {
  const auto hours = take_digits(rest, 2);
  const bool colon = take(rest, ':');
  const auto minutes = take_digits(rest, 2);
  if (!hours || !colon || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  std::int64_t ms = (*hours * 60 + *minutes) * 60'000;
  if (take(rest, ':')) {
    const auto seconds = take_digits(rest, 2);
    if (!seconds || *seconds > 59) return std::nullopt;
    ms += *seconds * 1'000;
    if (take(rest, '.') || take(rest, ',')) {
      const auto fraction = take_fraction_ms(rest);
      if (!fraction) return std::nullopt;
      ms += *fraction;
    }
  }
  return ms;
}

// What a zone adds to UTC; the text must end with it.
std::optional<std::int64_t> take_zone_ms(std::string_view& rest) {
  if (take(rest, 'Z') || take(rest, 'z')) return 0;
  const bool minus = take(rest, '-');
  if (!minus && !take(rest, '+')) return std::nullopt;
  const auto hours = take_digits(rest, 2);
  std::optional<int> minutes = 0;
  if (!rest.empty()) {
    take(rest, ':');
    minutes = take_digits(rest, 2);
  }
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const std::int64_t ms = (*hours * 60 + *minutes) * 60'000;
  return minus ? -ms : ms;
}

std::string to_text(Instant at, bool with_fraction) {
  using namespace std::chrono;
  // Anyone may write any number on the topic; the calendar's four digits end somewhere.
  constexpr std::int64_t year_0_ms = -62'167'219'200'000;
  constexpr std::int64_t year_10000_ms = 253'402'300'800'000;
  if (at.value() < year_0_ms || at.value() >= year_10000_ms) {
    return std::to_string(at.value()) + "ms";
  }
  const sys_time<milliseconds> time{milliseconds{at.value()}};
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{time - day};
  std::array<char, 64> text{};
  const int length = std::snprintf(
      text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()));
  std::string out{text.data(), static_cast<std::size_t>(length)};
  if (with_fraction) {
    std::array<char, 32> fraction{};
    std::snprintf(fraction.data(), fraction.size(), ".%03d",
                  static_cast<int>(clock.subseconds().count()));
    out += fraction.data();
  }
  return out + "Z";
}

}  // namespace

Result<ParsedInstant> parse_instant(std::string_view text) {
  std::string_view rest = text;
  const auto day = take_day_ms(rest);
  if (!day) return not_an_instant(text);
  std::int64_t ms = *day;
  if (!rest.empty() && (take(rest, 'T') || take(rest, 't') || take(rest, ' '))) {
    const auto time = take_time_ms(rest);
    if (!time) return not_an_instant(text);
    ms += *time;
  }
  if (rest.empty()) return ParsedInstant{Instant{ms}, true};
  const auto zone = take_zone_ms(rest);
  if (!zone || !rest.empty()) return not_an_instant(text);
  return ParsedInstant{Instant{ms - *zone}, false};
}

std::string to_text(Instant at) { return to_text(at, true); }

std::string to_short_text(Instant at) { return to_text(at, false); }

}  // namespace flow::app
