#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/ports/values.h"
#include "schemas/records.h"

namespace flow::app {

// What looking at the groups before appending says.
struct GroupVerdict {
  std::vector<std::string> refusals;  // any: nothing is appended
  std::vector<std::string> notes;     // could not be seen; the engine looks again
  std::optional<Error> failure;       // nothing could be seen at all
};

// Takes a request and what was seen of its groups. `members_are_fine`: the request may wait for
// them to leave
// (--when-stopped, --wait). Pure.
GroupVerdict judge_groups(const Request& request, const port::Observation& seen,
                          bool members_are_fine);

}  // namespace flow::app
