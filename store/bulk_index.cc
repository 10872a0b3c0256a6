#include "store/bulk_index.h"

#include <algorithm>

#include "schemas/codec.h"

namespace flow::store {
namespace {

void insert(std::vector<std::size_t>& set, std::size_t value) {
  if (std::find(set.begin(), set.end(), value) == set.end()) {
    set.push_back(value);
  }
}

bool contains_all(const std::vector<std::size_t>& set, const std::vector<std::size_t>& values) {
  return std::all_of(values.begin(), values.end(), [&](std::size_t value) {
    return std::find(set.begin(), set.end(), value) != set.end();
  });
}

}  // namespace

void BulkIndex::see(const RecordKey& key, std::string_view value, bool readable) {
  auto& progress = requests_[key.id];
  const std::size_t group = std::hash<std::string>{}(key.name);
  if (key.kind == Kind::done) {
    progress.done = readable;
  } else if (key.kind == Kind::result && readable) {
    insert(progress.moved, group);
  } else if (key.kind == Kind::verified && readable && is_last_look(key, value)) {
    insert(progress.verified, group);
  } else if (key.kind == Kind::verified) {
    // The last record of a key counts, and the result may have been forgotten already.
    std::erase(progress.verified, group);
    insert(progress.moved, group);
  }
  const bool settled = progress.done && contains_all(progress.verified, progress.moved);
  // A refused or cancelled request has no result; a completed one has had its results before its
  // done, in one transaction, so a done without any result seen is settled.
  if (settled) {
    requests_.erase(key.id);
  }
}

std::vector<RequestId> BulkIndex::suspects() const {
  std::vector<RequestId> ids;
  ids.reserve(requests_.size());
  for (const auto& [id, progress] : requests_) {
    ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace flow::store
