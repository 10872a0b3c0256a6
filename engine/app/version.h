#pragma once

namespace flow::app {

// The version of this binary; CMake's project version is the only place where it is written.
inline constexpr const char* version = FLOW_VERSION;

}  // namespace flow::app
