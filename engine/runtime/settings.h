#pragma once

#include <string>

#include "schemas/ids.h"

namespace flow::engine {

// What an engine is told at its start.
struct Settings {
  std::string engine_id;  // random, new with each process
  std::string host;
  std::string version;
  Duration verify_for{30'000};        // the last look after a move
  Duration checkpoint_every{60'000};  // how often the store is brought to disk while records come
  std::int64_t bulk_from =
      20'000;  // an empty store rebuilds in bulk when the log is longer than this
};

}  // namespace flow::engine
