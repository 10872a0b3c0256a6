#include "store/memory_tables.h"

namespace flow::store {

Result<std::optional<std::string>> MemoryTables::get(std::string_view key) const {
  const auto found = rows_.find(key);
  return found == rows_.end() ? std::optional<std::string>{} : std::optional{found->second};
}

Result<void> MemoryTables::scan(
    std::string_view prefix,
    const std::function<bool(std::string_view, std::string_view)>& row) const {
  for (auto at = rows_.lower_bound(prefix); at != rows_.end(); ++at) {
    if (!std::string_view{at->first}.starts_with(prefix) || !row(at->first, at->second)) {
      break;
    }
  }
  return boost::outcome_v2::success();
}

Result<void> MemoryTables::write(const Batch& batch) {
  batch.each([&](std::string_view key, std::optional<std::string_view> value) {
    if (value) {
      rows_.insert_or_assign(std::string{key}, std::string{*value});
    } else {
      rows_.erase(std::string{key});
    }
  });
  return boost::outcome_v2::success();
}

Result<void> MemoryTables::flush() { return boost::outcome_v2::success(); }

}  // namespace flow::store
