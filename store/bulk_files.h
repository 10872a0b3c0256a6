#pragma once

#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "store/tables.h"

namespace rocksdb {
class DB;
struct Options;
}  // namespace rocksdb

namespace flow::store {

// Rows of a rebuild on their way into RocksDB, past its memtables: gathered, sorted in parts, and
// written as its own files, one part behind the other while the next is gathered. Nothing can be
// read, and nothing is kept in a crash, before finish has handed them over, all at once.
class BulkFiles {
 public:
  // `folder`: the database's own. `options`: how its files are written; they outlive this.
  BulkFiles(std::string folder, const rocksdb::Options& options);
  ~BulkFiles();
  BulkFiles(const BulkFiles&) = delete;
  BulkFiles& operator=(const BulkFiles&) = delete;

  // Waits while the part before the last is still being written. Errc::retriable: the disk refuses;
  // the same call may be made again (rows that were taken already are then there twice, as one).
  Result<void> add(const Batch& batch);

  // Hands everything over to `db`. Errors as add.
  Result<void> finish(rocksdb::DB& db);

  // Deletes what an interrupted rebuild left in `folder`.
  static void remove_leftovers(const std::string& folder);

 private:
  // A row's place in a part; the first bytes of its key decide most comparisons.
  struct Row {
    std::uint64_t prefix = 0;
    std::uint32_t key_at = 0;
    std::uint32_t key_size = 0;
    std::uint32_t value_size = 0;  // behind the key
    bool is_erased = false;
  };
  struct Part {
    std::string bytes;
    std::vector<Row> rows;
  };

  // What became of writing a part, and its memory, for the next one.
  struct Written {
    std::string problem;
    Part part;
  };

  static Written write_file(Part part, std::string path, const rocksdb::Options* options);
  void start(Part part, const std::string& path);
  Result<void> begin_file();
  Result<void> wait();

  std::string folder_;
  const rocksdb::Options& options_;
  Part part_;
  Part spare_;
  std::optional<Part> failed_;  // to be written again
  std::future<Written> writing_;
  std::vector<std::string> files_;
};

}  // namespace flow::store
