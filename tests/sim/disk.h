#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/runtime/store_keeper.h"
#include "store/tables.h"
#include "tests/sim/clockwork.h"

namespace flow::sim {

// The store's folder on one machine. What was written and not flushed is lost by a crash, from some
// batch on: RocksDB without its write-ahead log, which may flush by itself at any time.
class Disk {
 public:
  using Rows = std::map<std::string, std::string, std::less<>>;

  // The process that had it open is gone: keeps the first `kept` of the unflushed batches.
  void lose(std::uint64_t kept);
  std::size_t unflushed() const { return unflushed_.size(); }

  // What an operator may do while nobody has it open.
  void restore_copy(std::size_t which);
  std::size_t copies() const { return copies_.size(); }
  void clear();

  // Writes of tables with an older number are of a process that is gone.
  std::uint64_t opening() const { return opening_; }
  std::uint64_t open_anew() { return ++opening_; }
  const Rows& rows() const { return durable_; }
  void write(store::Batch batch) { unflushed_.push_back(std::move(batch)); }
  void flush();
  // The rows that the process which has it open sees; erased there alone, for a fault.
  void forget(const std::string& prefix);
  std::shared_ptr<Rows> open_rows();

  bool is_full = false;
  bool is_damaged = false;  // until it is set aside

 private:
  Rows durable_;
  std::shared_ptr<Rows> open_ = std::make_shared<Rows>();
  std::vector<store::Batch> unflushed_;
  std::vector<Rows> copies_;  // as it was after some earlier flushes
  std::uint64_t opening_ = 0;
};

// The store's tables on a Disk.
class DiskSource : public engine::TablesSource {
 public:
  explicit DiskSource(Disk& disk) : disk_(disk) {}
  Result<std::unique_ptr<store::Tables>> open(bool bulk) override;
  Result<std::string> set_aside() override;
  Result<void> destroy() override;

 private:
  Disk& disk_;
};

}  // namespace flow::sim
