#include "tests/sim/disk.h"

#include <algorithm>

#include "tests/sim/faults.h"

namespace flow::sim {
namespace {

void put(Disk::Rows& rows, const store::Batch& batch) {
  batch.each([&](std::string_view key, std::optional<std::string_view> value) {
    if (value) {
      rows.insert_or_assign(std::string{key}, std::string{*value});
    } else {
      rows.erase(std::string{key});
    }
  });
}

class DiskTables : public store::Tables {
 public:
  explicit DiskTables(Disk& disk)
      : disk_(disk), opening_(disk.open_anew()), rows_(disk.open_rows()) {}

  Result<std::optional<std::string>> get(std::string_view key) const override {
    if (disk_.is_damaged) {
      return damaged();
    }
    const auto found = rows_->find(key);
    return found == rows_->end() ? std::optional<std::string>{} : std::optional{found->second};
  }

  Result<void> scan(
      std::string_view prefix,
      const std::function<bool(std::string_view, std::string_view)>& row) const override {
    if (disk_.is_damaged) {
      return damaged();
    }
    for (auto at = rows_->lower_bound(prefix); at != rows_->end(); ++at) {
      if (!std::string_view{at->first}.starts_with(prefix) || !row(at->first, at->second)) {
        break;
      }
    }
    return boost::outcome_v2::success();
  }

  Result<void> write(const store::Batch& batch) override {
    if (disk_.is_full) {
      return error(Errc::retriable, "write the store: no space left on device");
    }
    put(*rows_, batch);
    if (opening_ == disk_.opening()) {
      disk_.write(batch);
    }
    return boost::outcome_v2::success();
  }

  Result<void> flush() override {
    if (disk_.is_full) {
      return error(Errc::retriable, "flush the store: no space left on device");
    }
    if (opening_ == disk_.opening()) {
      disk_.flush();
    }
    return boost::outcome_v2::success();
  }

 private:
  static Error damaged() { return error(Errc::fatal, "read the store: block checksum mismatch"); }

  Disk& disk_;
  std::uint64_t opening_;
  std::shared_ptr<Disk::Rows> rows_;
};

constexpr std::size_t copies_max = 3;

}  // namespace

void Disk::lose(std::uint64_t kept) {
  for (std::size_t i = 0; i < unflushed_.size() && i < kept; ++i) {
    put(durable_, unflushed_[i]);
  }
  if (is_faulty(Fault::position_without_rows) && !unflushed_.empty()) {
    unflushed_.back().each([&](std::string_view key, std::optional<std::string_view> value) {
      if (key == "M" && value) {
        durable_[std::string{key}] = *value;
      }
    });
  }
  unflushed_.clear();
  ++opening_;
}

void Disk::forget(const std::string& prefix) {
  std::erase_if(*open_, [&](const auto& row) { return row.first.starts_with(prefix); });
}

std::shared_ptr<Disk::Rows> Disk::open_rows() {
  open_ = std::make_shared<Rows>(durable_);
  return open_;
}

void Disk::restore_copy(std::size_t which) { durable_ = copies_.at(which); }

void Disk::clear() {
  durable_.clear();
  unflushed_.clear();
}

void Disk::flush() {
  for (const auto& batch : unflushed_) {
    put(durable_, batch);
  }
  unflushed_.clear();
  copies_.push_back(durable_);
  if (copies_.size() > copies_max) {
    copies_.erase(copies_.begin());
  }
}

Result<std::unique_ptr<store::Tables>> DiskSource::open(bool /*bulk*/) {
  // Whoever had it open before in this process has closed it, and RocksDB keeps what it wrote.
  disk_.lose(disk_.unflushed());
  return std::unique_ptr<store::Tables>{std::make_unique<DiskTables>(disk_)};
}

Result<std::string> DiskSource::set_aside() {
  disk_.clear();
  disk_.is_damaged = false;
  return std::string{"aside"};
}

Result<void> DiskSource::destroy() {
  disk_.clear();
  return boost::outcome_v2::success();
}

}  // namespace flow::sim
