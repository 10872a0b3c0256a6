#pragma once

#include <memory>
#include <string>

#include "store/tables.h"

namespace rocksdb {
class DB;
struct Options;
}  // namespace rocksdb

namespace flow::store {

// Tables in a RocksDB folder, one column family. The write-ahead log is off: the control topic is
// the log, and rows and position always stand in one batch, so that a crash costs only the reading
// again of what was not flushed.
class RocksTables : public Tables {
 public:
  // `bulk`: made for a rebuild, which writes much and reads nothing (see BulkFiles); what is
  // written stands there after flush. Open again without it before reading. Errc::refused: another
  // process has the folder open, or it holds what is no store's; Errc::fatal: RocksDB calls it
  // corrupt; Errc::retriable: the disk refuses.
  static Result<std::unique_ptr<RocksTables>> open(const std::string& folder, bool bulk);

  // Deletes the folder's database. Nobody may have it open.
  static Result<void> destroy(const std::string& folder);

  ~RocksTables() override;

  Result<std::optional<std::string>> get(std::string_view key) const override;
  Result<void> scan(
      std::string_view prefix,
      const std::function<bool(std::string_view, std::string_view)>& row) const override;
  Result<void> write(const Batch& batch) override;
  Result<void> flush() override;

 private:
  RocksTables(std::string folder, std::unique_ptr<rocksdb::DB> db);

  std::string folder_;
  std::unique_ptr<rocksdb::DB> db_;
  struct Bulk;
  std::unique_ptr<Bulk> bulk_;  // while open for a rebuild
};

}  // namespace flow::store
