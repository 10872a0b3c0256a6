#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/error.h"

namespace flow::store {

// Rows put (a value) or erased (none), all or nothing. One piece of memory for all of them: a
// rebuild makes a million.
class Batch {
 public:
  // A row whose key and value are what their parts give one behind the other.
  void put(std::initializer_list<std::string_view> key,
           std::initializer_list<std::string_view> value) {
    Row row{append(key), append(value), false};
    rows_.push_back(row);
  }
  void put(std::string_view key, std::string_view value) { put({key}, {value}); }
  void erase(std::string_view key) { rows_.push_back({append({key}), 0, true}); }

  // Calls `row(key, value)` for each, in order; no value: erased.
  template <typename Call>
  void each(Call row) const {
    std::string_view left = bytes_;
    for (const auto& [key_size, value_size, is_erased] : rows_) {
      const auto key = left.substr(0, key_size);
      const auto value = left.substr(key_size, value_size);
      row(key, is_erased ? std::nullopt : std::optional<std::string_view>{value});
      left.remove_prefix(key_size + value_size);
    }
  }

 private:
  struct Row {
    std::size_t key_size;
    std::size_t value_size;
    bool is_erased;
  };

  std::size_t append(std::initializer_list<std::string_view> parts) {
    const auto before = bytes_.size();
    for (const auto part : parts) {
      bytes_ += part;
    }
    return bytes_.size() - before;
  }

  std::string bytes_;
  std::vector<Row> rows_;
};

// Ordered rows of bytes. One thread at a time. Errc::fatal: what is on disk cannot be believed (set
// it aside and rebuild from the log); Errc::retriable: the disk refuses for now (full, for
// example).
class Tables {
 public:
  virtual ~Tables() = default;

  virtual Result<std::optional<std::string>> get(std::string_view key) const = 0;

  // Calls `row` for each row whose key begins with `prefix`, in order, until it returns false.
  virtual Result<void> scan(
      std::string_view prefix,
      const std::function<bool(std::string_view key, std::string_view value)>& row) const = 0;

  virtual Result<void> write(const Batch& batch) = 0;

  // What was written before is on disk when this returns.
  virtual Result<void> flush() = 0;
};

}  // namespace flow::store
