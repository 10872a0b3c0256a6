#include "schemas/error.h"

#include <cstdio>
#include <cstdlib>

namespace flow {

std::string_view to_string(Errc errc) {
  switch (errc) {
    case Errc::invalid:
      return "invalid";
    case Errc::unreachable:
      return "unreachable";
    case Errc::retriable:
      return "retriable";
    case Errc::refused:
      return "refused";
    case Errc::fenced:
      return "fenced";
    case Errc::fatal:
      return "fatal";
    case Errc::unknown:
      return "unknown";
    case Errc::cancelled:
      return "cancelled";
  }
  return "unknown";
}

namespace detail {

void assert_failed(const char* condition, const char* file, int line, const std::string& what) {
  std::fprintf(stderr, "assertion failed: %s (%s) at %s:%d\n", condition, what.c_str(), file, line);
  std::fflush(stderr);
  std::abort();
}

}  // namespace detail
}  // namespace flow
