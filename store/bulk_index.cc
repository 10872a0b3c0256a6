#include "store/bulk_index.h"

#include <algorithm>

#include "schemas/codec.h"

namespace flow::store {
namespace {

bool is_last_verified(const RecordKey& key, std::string_view value) {
  const auto record = decode(key, value);
  return record && std::get<Verified>(record.value()).last;
}

}  // namespace

void BulkIndex::see(const RecordKey& key, std::string_view value, bool readable) {
  auto& progress = requests_[key.id];
  const std::size_t group = std::hash<std::string>{}(key.name);
  if (key.kind == Kind::done) {
    progress.done = readable;
  } else if (key.kind == Kind::result && readable) {
    progress.moved.insert(group);
  } else if (key.kind == Kind::verified && readable && is_last_verified(key, value)) {
    progress.verified.insert(group);
  } else if (key.kind == Kind::verified) {
    // The last record of a key counts, and the result may have been forgotten already.
    progress.verified.erase(group);
    progress.moved.insert(group);
  }
  const bool settled =
      progress.done && std::includes(progress.verified.begin(), progress.verified.end(),
                                     progress.moved.begin(), progress.moved.end());
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
