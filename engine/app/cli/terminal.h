#pragma once

#include <string>
#include <string_view>

namespace flow::app {

// Where a command's words go: results to stdout, everything else to stderr. One a process; main
// thread only.
class Terminal {
 public:
  Terminal();

  // A result, as it stands (with its line ends).
  void out(std::string_view text);
  // A line on stderr, made printable.
  void note(std::string_view line);
  // What is waited for: one line that is written over on a terminal, a line whenever it changes in
  // a pipe. `elapsed_s` is shown on a terminal only.
  void progress(const std::string& line, long elapsed_s);
  // Takes the progress line away.
  void clear_progress();
  // Hands everything to the system; false where stdout did not take it all (a full disk), with the
  // reason.
  bool finish(std::string& problem);

 private:
  void write_out(std::string_view text);

  bool err_is_terminal_ = false;
  std::string progress_;       // what was last shown
  bool line_is_open_ = false;  // a progress line without a line end stands on the terminal
  int out_errno_ = 0;
};

}  // namespace flow::app
