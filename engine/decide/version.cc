#include "engine/decide/version.h"

#include <charconv>

namespace flow::decide {
namespace {

// Takes the first number off `version`; 0 where none is left.
int take_number(std::string_view& version) {
  int number = 0;
  const auto [end, problem] =
      std::from_chars(version.data(), version.data() + version.size(), number);
  version.remove_prefix(static_cast<std::size_t>(end - version.data()));
  if (version.starts_with('.')) {
    version.remove_prefix(1);
  } else {
    version = {};
  }
  return problem == std::errc{} ? number : 0;
}

}  // namespace

bool is_older(std::string_view version, std::string_view than) {
  while (!version.empty() || !than.empty()) {
    const int ours = take_number(version);
    const int theirs = take_number(than);
    if (ours != theirs) {
      return ours < theirs;
    }
  }
  return false;
}

}  // namespace flow::decide
