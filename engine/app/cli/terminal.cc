#include "engine/app/cli/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "engine/app/cli/text.h"

namespace flow::app {
namespace {

// Writes all of it, in one call where the system takes it so, that lines of two processes do not
// mix.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(descriptor, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

// A descriptor that the caller closed would be given to the next socket, and words meant for people
// would go to a broker. What holds its place can be neither read nor written to any effect.
void occupy_closed_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) == -1 && errno == EBADF) {
      [[maybe_unused]] const int opened = ::open("/dev/null", O_RDONLY);
    }
  }
}

bool can_rewrite_lines() {
  const char* kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && kind != nullptr && std::strcmp(kind, "dumb") != 0;
}

std::size_t terminal_width() {
  winsize size{};
  constexpr std::size_t usual = 80;
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

// Cut to fit into one line of the terminal: a longer one could not be taken away again.
std::string fitted(const std::string& line, std::size_t width) {
  std::string out;
  std::size_t columns = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool starts_character = (static_cast<unsigned char>(line[i]) & 0xc0) != 0x80;
    if (starts_character && ++columns >= width) return out;
    out += line[i];
  }
  return out;
}

}  // namespace

Terminal::Terminal() {
  occupy_closed_descriptors();
  err_is_terminal_ = can_rewrite_lines();
}

void Terminal::write_out(std::string_view text) {
  if (out_errno_ == 0) out_errno_ = write_all(STDOUT_FILENO, text);
}

void Terminal::out(std::string_view text) {
  clear_progress();
  write_out(text);
}

void Terminal::note(std::string_view line) {
  clear_progress();
  write_all(STDERR_FILENO, printable(line) + "\n");
}

void Terminal::progress(const std::string& line, long elapsed_s) {
  if (!err_is_terminal_) {
    if (line != progress_) write_all(STDERR_FILENO, printable(line) + "\n");
    progress_ = line;
    return;
  }
  const std::string shown =
      fitted("[" + std::to_string(elapsed_s) + "s] " + printable(line), terminal_width());
  if (shown == progress_ && line_is_open_) return;
  write_all(STDERR_FILENO, "\r\033[K" + shown);
  progress_ = shown;
  line_is_open_ = true;
}

void Terminal::clear_progress() {
  if (line_is_open_) write_all(STDERR_FILENO, "\r\033[K");
  line_is_open_ = false;
}

bool Terminal::finish(std::string& problem) {
  clear_progress();
  if (out_errno_ == 0) return true;
  problem = std::string{"cannot write to standard output: "} + std::strerror(out_errno_);
  return false;
}

}  // namespace flow::app
