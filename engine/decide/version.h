#pragma once

#include <string_view>

namespace flow::decide {

// Takes two versions (numbers between dots, such as 0.3.1; what follows a '-' or '+' is left out);
// says whether `version` is older than `than`. An empty `than` makes nothing older.
bool is_older(std::string_view version, std::string_view than);

}  // namespace flow::decide
