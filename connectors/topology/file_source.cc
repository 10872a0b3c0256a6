#include "connectors/topology/file_source.h"

#include <sys/stat.h>

#include <chrono>
#include <utility>

#include "connectors/topology/file.h"

namespace flow::topology {
namespace {

// A file system's times come in ticks: two changes within one tick, of equal size, have one stamp.
// So a stamp this young is not trusted yet, and the file is read again the next time.
bool is_settled(std::int64_t modified_ns) {
  constexpr std::int64_t tick_ns_max = 100'000'000;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t age = std::chrono::nanoseconds{now}.count() - modified_ns;
  return age > tick_ns_max || age < -tick_ns_max;
}

}  // namespace

FileTopology::FileTopology(std::string file) : file_(std::move(file)) { topology_.source = file_; }

FileTopology::Stamp FileTopology::stamp() const {
  struct stat seen {};
  if (::stat(file_.c_str(), &seen) != 0) {
    return {};
  }
  constexpr std::int64_t ns_per_s = 1'000'000'000;
  return {seen.st_dev, seen.st_ino, seen.st_size,
          seen.st_mtim.tv_sec * ns_per_s + seen.st_mtim.tv_nsec};
}

const port::Topology& FileTopology::current() {
  // The stamp is taken before the reading: a change during it is then seen the next time.
  const Stamp now = stamp();
  if (read_at_ == now) {
    return topology_;
  }
  read_at_.reset();
  if (is_settled(now.modified_ns)) {
    read_at_ = now;
  }
  auto read = load_topology(file_);
  if (read) {
    topology_ = std::move(read).value();
  } else {
    topology_.whole = false;
    topology_.problem = read.error().detail;
  }
  return topology_;
}

}  // namespace flow::topology
