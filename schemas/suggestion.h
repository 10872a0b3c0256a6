#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flow {

// Takes a word that is not known and those that are; returns the one that a typing error or two
// make of it, or nothing where all are farther away. Pure; anyone may call it.
std::string likely_meant(std::string_view word, const std::vector<std::string>& known);

// The same for people: "did you mean 'x'?", else "known are: x, y" with the first ten names.
// `known` is not empty.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace flow
