#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schemas/ids.h"
#include "schemas/records.h"

// The compaction contract in one file: what Kafka keeps one record of.
//   <request id>/<kind>[/<group or cluster>][/<leader number>], or the kind alone for records of no
//   request.
// A group may contain '/', so the id comes first and the number last.
namespace flow {

enum class Kind : std::uint8_t {
  request,
  cancel,
  guard,
  intent,
  result,
  done,
  verified,
  engine,
  log,
  annotations,
  savepoint,
  step,
  schedule,  // reserved
};

std::string_view to_string(Kind kind);

struct RecordKey {
  Kind kind = Kind::request;
  RequestId id;      // empty for records of no request
  std::string name;  // result, verified: the group; intent: the cluster, or empty; step: its number
  std::optional<LeaderNumber> leader;  // result, done

  friend auto operator<=>(const RecordKey&, const RecordKey&) = default;
  friend bool operator==(const RecordKey&, const RecordKey&) = default;
};

// Returns the key's bytes (UTF-8, readable with kcat).
std::string encode_key(const RecordKey& key);

// Takes a key's bytes; returns nothing for anything that encode_key cannot have made.
std::optional<RecordKey> decode_key(std::string_view bytes);

// Returns the key under which `record` stands.
RecordKey key_of(const Record& record);

}  // namespace flow
