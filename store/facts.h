#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "schemas/ids.h"
#include "schemas/keys.h"
#include "schemas/log_record.h"
#include "schemas/records.h"

// Everything that is known of one request. Each record is a fact under its key: the last one of a
// key counts, and what the facts mean is computed from those that are there, never from the order
// in which they came. That is what makes compaction, which keeps the last record of a key at its
// own position, change nothing.
namespace flow::store {

enum class Content : std::uint8_t {
  readable,
  unreadable,  // rubbish, or a value that does not belong under its key
  newer,       // well formed, but of a version that knows more than this one
  erased,      // a tombstone
};

template <typename T>
struct Fact {
  LogPosition position;
  Instant timestamp;
  Content content = Content::readable;
  std::optional<T> record;  // where readable
  std::string problem;      // where unreadable or newer: why

  friend bool operator==(const Fact&, const Fact&) = default;
};

struct RequestFacts {
  RequestId id;
  std::optional<Fact<Request>> request;
  std::optional<Fact<Cancel>> cancel;
  std::optional<Fact<Guard>> guard;
  std::map<std::string, Fact<Intent>> intents;  // by cluster
  std::map<GroupId, std::map<LeaderNumber, Fact<GroupResult>>> results;
  std::map<LeaderNumber, Fact<Done>> dones;
  std::map<GroupId, Fact<Verified>> verified;

  friend bool operator==(const RequestFacts&, const RequestFacts&) = default;
};

// What apply found of one record.
struct Applied {
  bool readable = true;
  std::string problem;  // where not
};

// The only way into a request's facts: takes one record under one of its keys. Applying a record
// twice changes nothing. Returns whether the record could be read.
Applied apply(RequestFacts& facts, const RecordKey& key, const LogRecord& record);

// The done that counts: the readable one with the lowest leader number; nothing where there is
// none.
const Done* closing_done(const RequestFacts& facts);

// What is carried out, or was: the guard record's copy once there is one, else the request itself.
const Request* accepted_request(const RequestFacts& facts);

// When the request was asked: its own time, or else its record's timestamp.
std::optional<Instant> asked_at(const RequestFacts& facts);

// The result of `group` that counts: the readable one with the lowest leader number.
const GroupResult* result_of(const RequestFacts& facts, const GroupId& group);

// Whether `group` was ever moved or failed: also where its result cannot be read.
bool has_result(const RequestFacts& facts, const GroupId& group);

}  // namespace flow::store
