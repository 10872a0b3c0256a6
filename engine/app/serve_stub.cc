#include <cstdio>

#include "engine/app/serve.h"

namespace flow::app {

int run_engine(const ServeOptions&) {
  std::fputs("the engine is not built into this binary\n", stderr);
  return 2;
}

}  // namespace flow::app
