#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schemas/error.h"

namespace flow::store {

// Rows put (a value) or erased (none), all or nothing.
struct Batch {
  std::vector<std::pair<std::string, std::optional<std::string>>> rows;

  void put(std::string key, std::string value) {
    rows.emplace_back(std::move(key), std::move(value));
  }
  void erase(std::string key) { rows.emplace_back(std::move(key), std::nullopt); }
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
