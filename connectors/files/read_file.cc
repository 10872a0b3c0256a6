#include "connectors/files/read_file.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace flow::files {
namespace {

struct Close {
  void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};

}  // namespace

// A stream of <fstream> opens a folder without a word and reads nothing from it.
Result<std::string> read_file(const std::string& path) {
  const auto failure = [&] {
    return error(Errc::invalid, "cannot read '" + path + "': " + std::strerror(errno));
  };
  const std::unique_ptr<std::FILE, Close> file{std::fopen(path.c_str(), "rbe")};
  if (!file) return failure();
  std::string text;
  std::array<char, 16'384> part{};
  while (const auto bytes = std::fread(part.data(), 1, part.size(), file.get())) {
    text.append(part.data(), bytes);
  }
  if (std::ferror(file.get()) != 0) return failure();
  return text;
}

}  // namespace flow::files
