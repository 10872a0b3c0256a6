#include "store/rocks_tables.h"

#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <filesystem>

#include "store/bulk_files.h"

namespace flow::store {
namespace {

// RocksDB's own LOG file ends the process when the disk is full: an assertion in 7.8.3, which
// Debian builds with assertions on, fails at the second line that cannot be written. What goes
// wrong comes back as a status anyway.
class NoLog : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, std::va_list /*arguments*/) override {}
};

rocksdb::Options options_for(bool bulk) {
  rocksdb::Options options;
  options.info_log = std::make_shared<NoLog>();
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  options.max_open_files = 64;
  options.max_total_wal_size = 1 << 20;
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

// RocksDB has no code of its own for a folder that another process holds; only its message tells it
// from a LOCK file that cannot be made.
bool is_locked(const rocksdb::Status& status) {
  const std::string text = status.ToString();
  return status.IsIOError() && (text.find("While lock file") != std::string::npos ||
                                text.find("lock hold by current process") != std::string::npos);
}

// Files that RocksDB makes, folders that file systems make, and what an engine set aside here.
bool may_stand_in_a_store(const std::string& name) {
  constexpr std::array<std::string_view, 6> names{"CURRENT", "IDENTITY", "LOCK",
                                                  "LOG",     "archive",  "lost+found"};
  constexpr std::array<std::string_view, 5> beginnings{"MANIFEST-", "OPTIONS-", "LOG.", "damaged-",
                                                       "."};
  constexpr std::array<std::string_view, 4> endings{".sst", ".log", ".dbtmp", ".trash"};
  return std::find(names.begin(), names.end(), name) != names.end() ||
         std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view one) { return name.starts_with(one); }) ||
         std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view one) { return name.ends_with(one); });
}

// RocksDB makes a database beside whatever stands there, and makes a new one over the files of an
// old one whose CURRENT is gone.
Result<void> check_folder(const std::string& folder) {
  bool has_current = false;
  std::string left;
  std::error_code problem;
  for (std::filesystem::directory_iterator at{folder, problem}, end; !problem && at != end;
       at.increment(problem)) {
    const std::string name = at->path().filename();
    if (!may_stand_in_a_store(name)) {
      return error(Errc::refused, "the folder '" + folder + "' holds '" + name +
                                      "', which is no part of a store; give the engine a folder "
                                      "of its own (--store)");
    }
    has_current = has_current || name == "CURRENT";
    if (name.starts_with("MANIFEST-") || name.ends_with(".sst")) {
      left = name;
    }
  }
  if (problem && problem != std::errc::no_such_file_or_directory) {
    return error(Errc::retriable, "list the store's folder '" + folder + "': " + problem.message());
  }
  if (!problem && !has_current && !left.empty()) {
    return error(Errc::fatal, "open the store in '" + folder + "': '" + left +
                                  "' stands there, but the file CURRENT is gone");
  }
  return boost::outcome_v2::success();
}

rocksdb::Slice slice(std::string_view text) {
  return text.empty() ? rocksdb::Slice{} : rocksdb::Slice{text.data(), text.size()};
}

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
  BOOST_OUTCOME_TRY(check_folder(folder));
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
  if (status.IsInvalidArgument()) {
    return error(Errc::refused, "the tables in '" + folder + "' are of another program (" +
                                    status.ToString() +
                                    "); give the engine a folder of its own (--store)");
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
