#pragma once

#include <string>
#include <utility>
#include <vector>

#include "schemas/keys.h"
#include "schemas/log_record.h"
#include "schemas/records.h"

// Records for tests: short to write, and every one of them valid.
namespace flow::test {

// The id number `n`: 00000000-0000-4000-8000-<n in twelve digits>.
RequestId id_of(int n);

// A request of groups `groups` on the topic "t", to earliest, asked at `asked_at`.
Request request_of(int n, std::vector<std::string> groups = {"g"},
                   Instant asked_at = Instant{1'000});

// The guard record that accepts `request` with its groups as targets.
Guard guard_of(const Request& request, Verdict verdict = Verdict::waiting);

// A result that moves "t" partition 0 from 7 to 0.
GroupResult result_of(int n, const std::string& group = "g", std::int64_t leader = 1);
GroupResult failure_of(int n, const std::string& group, const std::string& why,
                       std::int64_t leader = 1);
Done done_of(int n, DoneOutcome outcome = DoneOutcome::completed, std::int64_t leader = 1);
Verified verified_of(int n, const std::string& group = "g", bool last = true);
Cancel cancel_of(int n);
Intent intent_of(int n, const std::string& cluster = "east", bool withdrawn = false);

// One record of each kind with every field set to something other than its default, by the kind's
// name.
std::vector<std::pair<std::string, Record>> full_records();
// One of each kind with as little as is valid.
std::vector<std::pair<std::string, Record>> bare_records();

// A record of the log that owns its bytes.
struct OwnedRecord {
  std::int64_t position = 0;
  std::string key;
  std::optional<std::string> value;
  std::int64_t timestamp = 1'000;

  LogRecord view() const {
    return {LogPosition{position}, Instant{timestamp}, key,
            value ? std::optional<std::string_view>{*value} : std::nullopt};
  }
};

OwnedRecord at(std::int64_t position, const Record& record);
OwnedRecord at(std::int64_t position, const RecordKey& key, std::optional<std::string> value);

std::vector<LogRecord> views(const std::vector<OwnedRecord>& records);

}  // namespace flow::test
