#include "engine/ports/fail_point.h"

namespace flow {

void fail_point(std::string_view /*name*/) {}

}  // namespace flow
