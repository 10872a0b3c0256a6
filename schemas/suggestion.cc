#include "schemas/suggestion.h"

#include <algorithm>

namespace flow {
namespace {

// How many letters have to change to make `a` of `b` (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string likely_meant(std::string_view word, const std::vector<std::string>& known) {
  std::string nearest;
  std::size_t best = 3;  // a typing error or two; farther is another word
  for (const auto& candidate : known) {
    // A short word that changed as a whole is another one, too.
    if (const auto d = distance(word, candidate); d < best && d < candidate.size()) {
      best = d;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  if (const auto meant = likely_meant(word, known); !meant.empty()) {
    return "did you mean '" + meant + "'?";
  }
  constexpr std::size_t named_max = 10;
  std::string text;
  for (std::size_t i = 0; i < known.size() && i < named_max; ++i) {
    text += (i == 0 ? "known are: " : ", ") + known[i];
  }
  return known.size() > named_max
             ? text + " and " + std::to_string(known.size() - named_max) + " more"
             : text;
}

}  // namespace flow
