#include "store/rocks_tables.h"

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include "store/bulk_files.h"

namespace flow::store {
namespace {

rocksdb::Options options_for(bool bulk) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  options.max_open_files = 64;
  options.max_total_wal_size = 1 << 20;
  options.keep_log_file_num = 2;
  options.info_log_level = rocksdb::WARN_LEVEL;
  options.paranoid_checks = true;
  options.write_buffer_size = std::size_t{4} << 20;
  options.max_write_buffer_number = 3;
  options.max_background_jobs = 2;
  options.avoid_flush_during_shutdown = false;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(8 << 20);
  table.cache_index_and_filter_blocks = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  // A rebuild leaves a file for every part; they are compacted later, and nobody waits for that.
  options.level0_slowdown_writes_trigger = 1 << 20;
  options.level0_stop_writes_trigger = 1 << 20;
  options.disable_auto_compactions = bulk;
  return options;
}

Error error_of(const rocksdb::Status& status, const std::string& what, const std::string& folder) {
  const std::string text = what + " the store in '" + folder + "': " + status.ToString();
  // A file that is gone is damage too: nothing but RocksDB writes there.
  if (status.IsCorruption() || status.IsInvalidArgument() || status.IsNotFound() ||
      status.IsPathNotFound()) {
    return error(Errc::fatal, text);
  }
  return error(Errc::retriable, text);
}

// RocksDB has no code of its own for a folder that another process holds; its message names the
// LOCK file.
bool is_locked(const rocksdb::Status& status) {
  const std::string text = status.ToString();
  return status.IsIOError() && text.find("LOCK") != std::string::npos &&
         (text.find("lock ") != std::string::npos || text.find("While lock") != std::string::npos);
}

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct RocksTables::Bulk {
  explicit Bulk(const std::string& folder) : options(options_for(true)), files(folder, options) {}

  rocksdb::Options options;
  BulkFiles files;
};

RocksTables::RocksTables(std::string folder, std::unique_ptr<rocksdb::DB> db)
    : folder_(std::move(folder)), db_(std::move(db)) {}

RocksTables::~RocksTables() {
  if (db_) {
    // What is not on disk yet costs a little reading at the next start, so a failure here is no
    // loss.
    rocksdb::CancelAllBackgroundWork(db_.get(), true);
    db_->Close().PermitUncheckedError();
  }
}

Result<std::unique_ptr<RocksTables>> RocksTables::open(const std::string& folder, bool bulk) {
  rocksdb::DB* raw = nullptr;
  // Compaction can wait for whatever else an engine does.
  rocksdb::Env::Default()->LowerThreadPoolCPUPriority(rocksdb::Env::LOW);
  const auto status = rocksdb::DB::Open(options_for(bulk), folder, &raw);
  if (status.ok()) {
    std::unique_ptr<RocksTables> tables{new RocksTables{folder, std::unique_ptr<rocksdb::DB>{raw}}};
    BulkFiles::remove_leftovers(folder);
    if (bulk) {
      tables->bulk_ = std::make_unique<Bulk>(folder);
    }
    return tables;
  }
  if (is_locked(status)) {
    return error(Errc::refused, "another engine uses the store in '" + folder +
                                    "'; give each engine a folder of its own (--store)");
  }
  return error_of(status, "open", folder);
}

Result<void> RocksTables::destroy(const std::string& folder) {
  const auto status = rocksdb::DestroyDB(folder, rocksdb::Options{});
  if (!status.ok()) {
    return error_of(status, "delete", folder);
  }
  return boost::outcome_v2::success();
}

Result<std::optional<std::string>> RocksTables::get(std::string_view key) const {
  std::string value;
  const auto status = db_->Get(rocksdb::ReadOptions{}, slice(key), &value);
  if (status.IsNotFound()) {
    return std::optional<std::string>{};
  }
  if (!status.ok()) {
    return error_of(status, "read", folder_);
  }
  return std::optional{std::move(value)};
}

Result<void> RocksTables::scan(
    std::string_view prefix,
    const std::function<bool(std::string_view, std::string_view)>& row) const {
  const std::unique_ptr<rocksdb::Iterator> at{db_->NewIterator(rocksdb::ReadOptions{})};
  for (at->Seek(slice(prefix)); at->Valid() && at->key().starts_with(slice(prefix)); at->Next()) {
    if (!row({at->key().data(), at->key().size()}, {at->value().data(), at->value().size()})) {
      break;
    }
  }
  if (!at->status().ok()) {
    return error_of(at->status(), "read", folder_);
  }
  return boost::outcome_v2::success();
}

Result<void> RocksTables::write(const Batch& batch) {
  if (bulk_) {
    return bulk_->files.add(batch);
  }
  rocksdb::WriteBatch rows;
  batch.each([&](std::string_view key, std::optional<std::string_view> value) {
    const auto status = value ? rows.Put(slice(key), slice(*value)) : rows.Delete(slice(key));
    FLOW_ASSERT(status.ok(), status.ToString());
  });
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  const auto status = db_->Write(options, &rows);
  if (!status.ok()) {
    return error_of(status, "write", folder_);
  }
  return boost::outcome_v2::success();
}

Result<void> RocksTables::flush() {
  if (bulk_) {
    return bulk_->files.finish(*db_);
  }
  const auto status = db_->Flush(rocksdb::FlushOptions{});
  if (!status.ok()) {
    return error_of(status, "flush", folder_);
  }
  return boost::outcome_v2::success();
}

}  // namespace flow::store
