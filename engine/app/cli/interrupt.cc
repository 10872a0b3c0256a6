#include "engine/app/cli/interrupt.h"

#include <signal.h>

#include <array>
#include <atomic>

namespace flow::app {
namespace {

constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};

std::atomic<int> interrupted_by{0};
std::atomic<bool> was_asked_for{false};
static_assert(std::atomic<int>::is_always_lock_free, "set from a signal handler");

void on_signal(int number) { interrupted_by.store(number); }

void set(int number, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(number, &action, nullptr);
}

}  // namespace

Interrupts::Interrupts() {
  interrupted_by.store(0);
  was_asked_for.store(false);
  for (const int number : signals) {
    struct sigaction before {};
    ::sigaction(number, nullptr, &before);
    // nohup and shells in the background have asked for some of them to be ignored.
    if (before.sa_handler != SIG_IGN) set(number, on_signal, static_cast<int>(SA_RESETHAND));
  }
}

Interrupts::~Interrupts() {
  for (const int number : signals) {
    struct sigaction now {};
    ::sigaction(number, nullptr, &now);
    if (now.sa_handler == on_signal) set(number, SIG_DFL, 0);
  }
  // One that came when nobody looked any more must not be lost: it does what it does by default.
  if (const int number = interrupted_by.load(); number != 0 && !was_asked_for.load()) {
    set(number, SIG_DFL, 0);
    ::raise(number);
  }
}

bool Interrupts::came() const {
  const bool has_come = interrupted_by.load() != 0;
  if (has_come) was_asked_for.store(true);
  return has_come;
}

}  // namespace flow::app
