#pragma once

#include <boost/outcome/coroutine_support.hpp>
#include <boost/outcome/result.hpp>
#include <boost/outcome/try.hpp>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace flow {

// What a failure means for the one who called; the class, never the text, drives what happens next.
enum class Errc : std::uint8_t {
  invalid,      // the caller's input is wrong; nothing was done
  unreachable,  // a server cannot be reached or does not answer in time; try again
  retriable,    // the server says: not now; try again
  refused,      // the server says no, and will say so again (missing right, unknown topic)
  fenced,       // another engine has taken over
  fatal,        // this handle can do nothing more; make a new one
  unknown,      // it may have happened; read back before acting
  cancelled,    // never begun: overtaken by something newer, or by the end of this process
};

std::string_view to_string(Errc errc);

struct Error {
  Errc errc = Errc::invalid;
  // For people: what was tried, on what, why it failed, what to do; lower case, one line.
  std::string detail;

  friend bool operator==(const Error&, const Error&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Error& error) {
    return out << to_string(error.errc) << ": " << error.detail;
  }
};

template <typename T>
using Result = boost::outcome_v2::basic_result<T, Error, boost::outcome_v2::policy::all_narrow>;

inline Error error(Errc errc, std::string detail) { return Error{errc, std::move(detail)}; }

}  // namespace flow

namespace flow::detail {
[[noreturn]] void assert_failed(const char* condition, const char* file, int line,
                                const std::string& what);
}  // namespace flow::detail

// For what must hold whatever the world does; on in release. `what` holds the values.
#define FLOW_ASSERT(condition, what)                                         \
  do {                                                                       \
    if (!(condition)) {                                                      \
      ::flow::detail::assert_failed(#condition, __FILE__, __LINE__, (what)); \
    }                                                                        \
  } while (false)
