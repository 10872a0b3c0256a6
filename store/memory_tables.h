#pragma once

#include <map>
#include <string>

#include "store/tables.h"

namespace flow::store {

// Tables in memory: for tests, the simulation and one-off readers of the log.
class MemoryTables : public Tables {
 public:
  Result<std::optional<std::string>> get(std::string_view key) const override;
  Result<void> scan(
      std::string_view prefix,
      const std::function<bool(std::string_view, std::string_view)>& row) const override;
  Result<void> write(const Batch& batch) override;
  Result<void> flush() override;

 private:
  std::map<std::string, std::string, std::less<>> rows_;
};

}  // namespace flow::store
