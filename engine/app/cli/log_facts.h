#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "engine/ports/values.h"
#include "store/facts.h"

namespace flow::app {

// What a control topic says, in memory: for commands that read it once and look around. The
// engine's store holds the same facts; this one needs no folder and no engine.
class LogFacts {
 public:
  // Records of one key that cannot be read.
  struct Bad {
    LogPosition first;
    std::string problem;  // of the first
    std::int64_t records = 0;
  };
  struct Leader {
    EngineStarted engine;
    LeaderNumber number;
  };

  // Applies a batch in the order of the log.
  void apply(const port::LogBatch& batch);

  const std::map<RequestId, store::RequestFacts>& requests() const { return requests_; }
  // All empty where nothing is known of it.
  store::RequestFacts facts(const RequestId& id) const;
  const std::optional<Leader>& leader() const { return leader_; }
  // Of those whose key a tombstone took away none is left.
  std::int64_t bad_records() const;
  // The oldest of them; null where there is none.
  const Bad* first_bad() const;
  LogPosition next() const { return next_; }

 private:
  void apply(const port::LogRecord& record);
  void apply_engine(const RecordKey& key, const port::LogRecord& record);
  void note_bad(const port::LogRecord& record, const std::string& problem);

  std::map<RequestId, store::RequestFacts> requests_;
  std::optional<Leader> leader_;
  std::map<std::string, Bad> bad_;  // by the record's key
  LogPosition next_;
};

}  // namespace flow::app
