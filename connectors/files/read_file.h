#pragma once

#include <string>

#include "schemas/error.h"

namespace flow::files {

// Returns the whole file; of a FIFO (a shell's <(...)) what comes until its end. Errc::invalid:
// "cannot read '<path>': <why>". Blocks; any thread.
Result<std::string> read_file(const std::string& path);

}  // namespace flow::files
