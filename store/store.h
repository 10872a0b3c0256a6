#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schemas/error.h"
#include "schemas/log_record.h"
#include "store/anchor.h"
#include "store/bulk_index.h"
#include "store/facts.h"
#include "store/phase.h"
#include "store/tables.h"

// The store is a cache of the control topic: facts, indexes and the next position, always in one
// batch. Deleting it costs a replay. The log is the only way in: rows change because a record was
// read back.
namespace flow::store {

// A record that could not be read: counted, and named once by whoever applied it.
struct BadRecord {
  LogPosition position;
  std::string key;  // printable, shortened
  std::string problem;
};

struct Birth {
  std::string id;
  LogPosition position;
  friend bool operator==(const Birth&, const Birth&) = default;
};

struct Leader {
  EngineStarted engine;
  LeaderNumber number;
};

// What one call of Store::apply changed.
struct Changes {
  std::map<RequestId, RequestFacts> requests;  // touched, with their facts after it; empty in bulk
  std::vector<BadRecord> bad;
  std::optional<Leader> leader;  // a new engine record was read
};

class Store {
 public:
  // Takes tables that are empty or were written by a store; Errc::refused: others. Errc::fatal and
  // Errc::retriable as Tables.
  static Result<std::unique_ptr<Store>> open(std::unique_ptr<Tables> tables);

  // Where reading the log goes on.
  LogPosition next() const { return next_; }
  // The birth record of the log that this store was read from; nothing before it was read.
  const std::optional<Birth>& birth() const { return birth_; }
  const std::optional<Leader>& leader() const { return leader_; }
  // The last done and the last record of any request, in this order: a log that lost what this
  // store knows of a request lacks the last record, and one that lost a done lacks the last done.
  // Without those that are tombstones, which a log need not keep.
  Result<std::vector<Anchor>> anchors() const;
  // Records that could not be read, over the whole log.
  std::int64_t bad_records() const { return bad_records_; }
  // When it last held all of the log; nothing where it never did.
  const std::optional<Instant>& current_at() const { return current_at_; }
  // Whether a bulk rebuild was cut off; such a store is to be deleted.
  bool is_half_built() const { return half_built_; }

  // Applies records in the order of the log, and moves next() to `next`. Records before next() are
  // left out: they were applied. On an error nothing has changed and the same call may be made
  // again.
  Result<Changes> apply(std::span<const LogRecord> records, LogPosition next);

  // From here to end_bulk no index is kept and nothing may be asked of the store: for a rebuild.
  Result<void> begin_bulk();
  // What was applied is on disk when this returns. Errors as Tables.
  Result<void> flush() { return tables_->flush(); }
  // Computes what begin_bulk left out. `reopened`: the same rows, opened for reading.
  Result<void> end_bulk(std::unique_ptr<Tables> reopened);
  bool in_bulk() const { return bulk_.has_value(); }
  // Gives the tables back, so that they can be closed and opened in another way; see end_bulk.
  std::unique_ptr<Tables> release_tables() { return std::move(tables_); }

  // Notes that at `now` the whole log has been applied, and brings everything to disk.
  Result<void> checkpoint(Instant now);

  // The facts of one request; all empty where nothing is known of it.
  Result<RequestFacts> facts(const RequestId& id) const;
  // Requests that an engine has something left to do for.
  Result<std::vector<RequestId>> open_requests() const;
  // Closed requests that lack a last verified record.
  Result<std::vector<RequestId>> unverified_requests() const;
  // Calls `visit` with every request's facts, by id, until it returns false.
  Result<void> each(const std::function<bool(const RequestFacts&)>& visit) const;

 private:
  explicit Store(std::unique_ptr<Tables> tables);
  Result<void> load();
  Result<void> apply_request_record(const RecordKey& key, const LogRecord& record, Changes& changes,
                                    Batch& batch);
  void apply_log_record(const RecordKey& key, const LogRecord& record, Changes& changes,
                        Batch& batch);
  void index(const RequestFacts& facts, Batch& batch) const;
  void note_bad(const LogRecord& record, std::string problem, Changes& changes) const;
  std::string meta() const;

  std::unique_ptr<Tables> tables_;
  std::optional<BulkIndex> bulk_;
  LogPosition next_;
  std::optional<Birth> birth_;
  std::optional<Leader> leader_;
  std::int64_t bad_records_ = 0;
  std::optional<Instant> current_at_;
  bool half_built_ = false;
};

}  // namespace flow::store
