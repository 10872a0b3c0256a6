#include "engine/app/cli/interrupt.h"

#include <signal.h>

#include <array>
#include <atomic>

namespace flow::app {
namespace {

constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

void on_signal(int) { interrupted.store(true); }

void set(int number, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(number, &action, nullptr);
}

}  // namespace

Interrupts::Interrupts() {
  interrupted.store(false);
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
}

bool Interrupts::came() const { return interrupted.load(); }

}  // namespace flow::app
