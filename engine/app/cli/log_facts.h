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
  struct Bad {
    LogPosition position;
    std::string problem;
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
  std::int64_t bad_records() const { return bad_records_; }
  const std::optional<Bad>& first_bad() const { return first_bad_; }
  LogPosition next() const { return next_; }

 private:
  void apply(const port::LogRecord& record);
  void apply_engine(const RecordKey& key, const port::LogRecord& record);
  void note_bad(const port::LogRecord& record, const std::string& problem);

  std::map<RequestId, store::RequestFacts> requests_;
  std::optional<Leader> leader_;
  std::int64_t bad_records_ = 0;
  std::optional<Bad> first_bad_;
  LogPosition next_;
};

}  // namespace flow::app
