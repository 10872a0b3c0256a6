#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "schemas/keys.h"

namespace flow::store {

// Finds, while records stream by and nothing can be looked up, the few requests that may be open or
// unverified. It may name too many, never too few: whoever asks computes their phases from their
// facts. A request is forgotten as soon as it is seen to be closed and verified, so this stays
// small.
class BulkIndex {
 public:
  // `value` is readable or absent (a tombstone); `readable` says which of its parts may be
  // believed.
  void see(const RecordKey& key, std::string_view value, bool readable);
  std::vector<RequestId> suspects() const;

 private:
  struct Progress {
    bool done = false;
    std::vector<std::size_t> moved;  // hashes of group names, each once
    std::vector<std::size_t> verified;
  };
  std::unordered_map<RequestId, Progress> requests_;
};

}  // namespace flow::store
