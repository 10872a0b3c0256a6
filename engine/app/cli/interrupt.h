#pragma once

namespace flow::app {

// From here to the end of its life, SIGINT, SIGTERM and SIGHUP set a mark instead of ending the
// process, so that what still waits can be said. A second signal ends it as ever, and so does one
// that nobody has asked for by then. One at a time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  bool came() const;
};

}  // namespace flow::app
