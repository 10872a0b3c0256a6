#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/ports/values.h"
#include "store/store.h"

namespace flow::engine {

// Where the store's tables come from: a RocksDB folder, or memory in tests.
class TablesSource {
 public:
  virtual ~TablesSource() = default;
  // Errc::refused: another process has them, or they are none of ours; Errc::fatal: damaged;
  // Errc::retriable: the disk refuses.
  virtual Result<std::unique_ptr<store::Tables>> open(bool bulk) = 0;
  // Moves damaged tables out of the way and returns where they are now; empty where nothing was
  // left of them.
  virtual Result<std::string> set_aside() = 0;
  // Deletes the tables; they must not be open.
  virtual Result<void> destroy() = 0;
};

// The store with its life cycle: opened, rebuilt when it cannot serve, set aside when it is
// damaged.
class StoreKeeper {
 public:
  // `say` is told, in a line for people, whenever a store is rebuilt or set aside and why.
  StoreKeeper(TablesSource& source, std::function<void(const std::string&)> say);

  // Opens what is there, also anew: what was not on disk is read from the log again. A damaged or
  // half-built store is replaced by an empty one. Errors: as TablesSource::open, without
  // Errc::fatal. After an error here and below no tables are open; open() may be called again.
  Result<void> open();

  // Throws the store away and begins with an empty one, for `why`.
  Result<void> rebuild(const std::string& why);

  // Sets a damaged store aside and begins with an empty one.
  Result<void> replace_damaged(const std::string& why);

  // Only while the store is empty: applies quickly from here until end_bulk.
  Result<void> begin_bulk();
  Result<void> end_bulk();

  store::Store& store() { return *store_; }
  const store::Store& store() const { return *store_; }

 private:
  void close();
  Result<void> open_tables(bool bulk);
  Result<void> reopen_after_bulk();

  TablesSource& source_;
  std::function<void(const std::string&)> say_;
  std::unique_ptr<store::Store> store_;
};

// A RocksDB folder.
class RocksSource : public TablesSource {
 public:
  explicit RocksSource(std::string folder) : folder_(std::move(folder)) {}
  Result<std::unique_ptr<store::Tables>> open(bool bulk) override;
  Result<std::string> set_aside() override;
  Result<void> destroy() override;

 private:
  std::string folder_;
};

// Why a store cannot serve this log; empty where it can. `birth_stands`: the record at the store's
// birth position is its birth record. Design 3: another log, or a store older than the log's
// tombstones.
std::string why_rebuild(const store::Store& store, const port::LogState& log, bool birth_stands,
                        Instant now);

// Requests that the store knows from records at or beyond `end`, which the log no longer has: one
// line each, for people.
Result<std::vector<std::string>> known_only_to(const store::Store& store, LogPosition end);

}  // namespace flow::engine
