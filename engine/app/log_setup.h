#pragma once

#include <spdlog/logger.h>

#include <memory>

#include "engine/app/serve.h"

namespace flow::app {

// Makes the engine's logger: stderr, one line a message, as text or as one JSON object.
std::shared_ptr<spdlog::logger> make_logger(const LogOptions& options);

}  // namespace flow::app
