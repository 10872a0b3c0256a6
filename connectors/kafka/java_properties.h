#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schemas/error.h"

namespace flow::kafka {

struct Property {
  std::string key;
  std::string value;
  int line = 0;  // of the key, counted from 1
};

// Takes the text of a Java properties file as java.util.Properties.load reads it: comments (# and
// !), continued lines, the separators '=', ':' and space, escapes. Returns the properties in the
// file's order, of a repeated key the last one. Text that is not UTF-8 is taken as Latin-1, which
// is what Java reads. Errc::invalid: an unfinished \u escape, as "<file>:<line>: ...". Pure; anyone
// may call it.
Result<std::vector<Property>> parse_properties(std::string_view text, const std::string& file);

}  // namespace flow::kafka
