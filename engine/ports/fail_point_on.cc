#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string>

#include "engine/ports/fail_point.h"

namespace flow {
namespace {

struct Armed {
  std::string name;
  std::string action;
  int nth = 1;  // 0: every time
};

Armed parse() {
  const char* text = std::getenv("FLOW_FAIL_POINT");
  if (text == nullptr) {
    return {};
  }
  const std::string all{text};
  const auto equals = all.find('=');
  const auto at = all.rfind('@');
  Armed armed;
  armed.name = all.substr(0, equals);
  armed.action = equals == std::string::npos ? "kill" : all.substr(equals + 1, at - equals - 1);
  if (at != std::string::npos) {
    armed.nth = 0;  // what `@*` leaves
    std::from_chars(all.data() + at + 1, all.data() + all.size(), armed.nth);
  }
  return armed;
}

}  // namespace

void fail_point(std::string_view name) {
  static const Armed armed = parse();
  static std::atomic<int> hits{0};
  if (name != armed.name || (++hits != armed.nth && armed.nth != 0)) {
    return;
  }
  if (armed.action == "kill") {
    ::kill(::getpid(), SIGKILL);
  } else if (armed.action == "stop") {
    // To this thread: a SIGSTOP to the process may be taken by another one, while this one runs on.
    ::raise(SIGSTOP);
  } else if (armed.action.starts_with("sleep:")) {
    ::poll(nullptr, 0, std::atoi(armed.action.c_str() + 6));
  }
}

}  // namespace flow
