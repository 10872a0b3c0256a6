#include "store/anchor.h"

namespace flow::store {

std::optional<bool> stands_in(std::span<const LogRecord> records, const Anchor& anchor) {
  for (const auto& record : records) {
    if (record.position == anchor.position) {
      return record.key == anchor.key && record.value == anchor.value;
    }
    if (record.position > anchor.position && record.key == anchor.key) {
      return true;
    }
  }
  return std::nullopt;
}

}  // namespace flow::store
