#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/ports/topology.h"

namespace flow::topology {

// A topology file that is read again whenever it changes. While the file as it is now is wrong or
// missing, the last good one holds, not whole, with the problem. One thread at a time.
class FileTopology final : public port::TopologySource {
 public:
  explicit FileTopology(std::string file);

  // Costs one stat call where nothing changed.
  const port::Topology& current() override;

 private:
  struct Stamp {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t bytes = -1;  // -1: the file is not there
    std::int64_t modified_ns = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  Stamp stamp() const;

  std::string file_;
  std::optional<Stamp> read_at_;  // the stamp taken before the last reading
  port::Topology topology_;
};

}  // namespace flow::topology
