#pragma once

#include <functional>
#include <string_view>

// The contract tests' own flow::fail_point: calls what a test has set.
namespace world {

void on_fail_point(std::function<void(std::string_view name)> hook);

}  // namespace world
