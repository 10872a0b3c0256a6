#include "engine/app/serve.h"

namespace flow::app {

// The command line's own tests start no engine.
int run_engine(const ServeOptions&) { return 0; }

}  // namespace flow::app
