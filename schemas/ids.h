#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

// Strong types for everything that is named or counted. None converts into another by accident.
namespace flow {

template <typename Value, typename Tag>
class Named {
 public:
  constexpr Named() = default;
  constexpr explicit Named(Value value) : value_(std::move(value)) {}

  constexpr const Value& value() const { return value_; }

  friend auto operator<=>(const Named&, const Named&) = default;
  friend bool operator==(const Named&, const Named&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Named& named) {
    return out << named.value_;
  }

 private:
  Value value_{};
};

// A canonical lower-case UUID; made by the one who asks. See parse_request_id.
using RequestId = Named<std::string, struct RequestIdTag>;
using GroupId = Named<std::string, struct GroupIdTag>;
using TopicName = Named<std::string, struct TopicNameTag>;

// A position in the control topic (its Kafka offset); never called an offset, which is a consumer
// group's.
using LogPosition = Named<std::int64_t, struct LogPositionTag>;

// The log position of the engine record with which a leader began (design: fencing token).
using LeaderNumber = Named<std::int64_t, struct LeaderNumberTag>;

// Milliseconds since 1970-01-01T00:00:00Z, as Kafka's timestamps.
using Instant = Named<std::int64_t, struct InstantTag>;

// Milliseconds.
using Duration = Named<std::int64_t, struct DurationTag>;

// Times come from whoever writes a record, so any of 64 bits is possible; sums stay at the ends of
// the range.
constexpr Instant operator+(Instant at, Duration by) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(at.value(), by.value(), &sum)) {
    sum = by.value() > 0 ? std::numeric_limits<std::int64_t>::max()
                         : std::numeric_limits<std::int64_t>::min();
  }
  return Instant{sum};
}
constexpr Duration operator-(Instant a, Instant b) {
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(a.value(), b.value(), &difference)) {
    difference =
        a > b ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
  }
  return Duration{difference};
}

struct TopicPartition {
  TopicName topic;
  std::int32_t partition = 0;

  friend auto operator<=>(const TopicPartition&, const TopicPartition&) = default;
  friend bool operator==(const TopicPartition&, const TopicPartition&) = default;
};

// Takes any text; returns the id where it is a canonical UUID (8-4-4-4-12 lower-case hexadecimal),
// else nothing. Anyone may call it.
std::optional<RequestId> parse_request_id(std::string_view text);

}  // namespace flow

template <typename Value, typename Tag>
struct std::hash<flow::Named<Value, Tag>> {
  std::size_t operator()(const flow::Named<Value, Tag>& named) const noexcept {
    return std::hash<Value>{}(named.value());
  }
};
