#include "store/bulk_files.h"

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_writer.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

namespace flow::store {
namespace {

// Two of them are in memory at a time.
constexpr std::size_t part_bytes = std::size_t{12} << 20;
constexpr const char* name_begins = "rebuild-";
constexpr const char* name_ends = ".sst";

std::uint64_t prefix_of(std::string_view key) {
  std::uint64_t prefix = 0;
  for (std::size_t i = 0; i < sizeof prefix; ++i) {
    prefix = (prefix << 8) | (i < key.size() ? static_cast<unsigned char>(key[i]) : 0u);
  }
  return prefix;
}

}  // namespace

BulkFiles::BulkFiles(std::string folder, const rocksdb::Options& options)
    : folder_(std::move(folder)), options_(options) {}

BulkFiles::~BulkFiles() {
  if (writing_.valid()) {
    writing_.wait();
  }
  remove_leftovers(folder_);
}

void BulkFiles::remove_leftovers(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator{folder, ignored}) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(name_begins) && name.ends_with(name_ends)) {
      std::filesystem::remove(entry.path(), ignored);
    }
  }
}

Result<void> BulkFiles::add(const Batch& batch) {
  Result<void> added = boost::outcome_v2::success();
  batch.each([&](std::string_view key, std::optional<std::string_view> value) {
    if (!added) {
      return;
    }
    const std::size_t value_size = value ? value->size() : 0;
    if (part_.bytes.size() + key.size() + value_size > part_bytes && !part_.rows.empty()) {
      added = begin_file();
    }
    if (part_.bytes.capacity() == 0) {
      part_.bytes.reserve(part_bytes);
    }
    Row row;
    row.prefix = prefix_of(key);
    row.key_at = static_cast<std::uint32_t>(part_.bytes.size());
    row.key_size = static_cast<std::uint32_t>(key.size());
    row.value_size = static_cast<std::uint32_t>(value_size);
    row.is_erased = !value;
    part_.bytes += key;
    part_.bytes += value.value_or(std::string_view{});
    part_.rows.push_back(row);
  });
  return added;
}

void BulkFiles::start(Part part, const std::string& path) {
  writing_ =
      std::async(std::launch::async, &BulkFiles::write_file, std::move(part), path, &options_);
}

// One part is written while the next one is gathered.
Result<void> BulkFiles::begin_file() {
  BOOST_OUTCOME_TRY(wait());
  files_.push_back(folder_ + "/" + name_begins + std::to_string(files_.size()) + name_ends);
  start(std::exchange(part_, std::exchange(spare_, {})), files_.back());
  return boost::outcome_v2::success();
}

Result<void> BulkFiles::wait() {
  if (failed_) {
    start(std::move(*failed_), files_.back());
    failed_.reset();
  }
  if (!writing_.valid()) {
    return boost::outcome_v2::success();
  }
  Written written = writing_.get();
  if (!written.problem.empty()) {
    failed_ = std::move(written.part);
    return error(Errc::retriable, "write the store in '" + folder_ + "': " + written.problem);
  }
  spare_ = std::move(written.part);
  spare_.bytes.clear();
  spare_.rows.clear();
  return boost::outcome_v2::success();
}

BulkFiles::Written BulkFiles::write_file(Part part, std::string path,
                                         const rocksdb::Options* options) {
  const auto key_of = [&part](const Row& row) {
    return std::string_view{part.bytes}.substr(row.key_at, row.key_size);
  };
  // Of the same key the later row comes first: it is the one that counts.
  std::sort(part.rows.begin(), part.rows.end(), [&](const Row& a, const Row& b) {
    if (a.prefix != b.prefix) {
      return a.prefix < b.prefix;
    }
    const int order = key_of(a).compare(key_of(b));
    return order != 0 ? order < 0 : a.key_at > b.key_at;
  });
  // The pages stay in the system's cache: they are read again when the files are compacted.
  constexpr bool invalidate_page_cache = false;
  rocksdb::SstFileWriter file{rocksdb::EnvOptions{*options}, *options, nullptr,
                              invalidate_page_cache};
  auto status = file.Open(path);
  const Row* last = nullptr;
  for (const auto& row : part.rows) {
    if (!status.ok()) {
      break;
    }
    if (last != nullptr && last->prefix == row.prefix && key_of(*last) == key_of(row)) {
      continue;
    }
    last = &row;
    const rocksdb::Slice key{part.bytes.data() + row.key_at, row.key_size};
    status = row.is_erased
                 ? file.Delete(key)
                 : file.Put(key, {part.bytes.data() + row.key_at + row.key_size, row.value_size});
  }
  if (status.ok()) {
    status = file.Finish();
  }
  return {status.ok() ? std::string{} : status.ToString(), std::move(part)};
}

Result<void> BulkFiles::finish(rocksdb::DB& db) {
  if (!part_.rows.empty()) {
    BOOST_OUTCOME_TRY(begin_file());
  }
  BOOST_OUTCOME_TRY(wait());
  part_ = {};
  spare_ = {};
  if (files_.empty()) {
    return boost::outcome_v2::success();
  }
  rocksdb::IngestExternalFileOptions how;
  how.move_files = true;
  how.write_global_seqno = false;
  const auto status = db.IngestExternalFile(files_, how);
  if (!status.ok()) {
    return error(Errc::retriable, "write the store in '" + folder_ + "': " + status.ToString());
  }
  files_.clear();
  return boost::outcome_v2::success();
}

}  // namespace flow::store
