#include "schemas/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace flow {
namespace {

// Bytes that follow a lead byte, and the bounds of the first of them; none where it is no lead
// byte.
struct Sequence {
  int following = -1;
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
};

Sequence sequence_of(unsigned char lead) {
  if (lead < 0x80) {
    return {0};
  }
  if (lead >= 0xc2 && lead <= 0xdf) {
    return {1};
  }
  if (lead == 0xe0) {
    return {2, 0xa0, 0xbf};
  }
  if (lead == 0xed) {
    return {2, 0x80, 0x9f};
  }
  if (lead >= 0xe1 && lead <= 0xef) {
    return {2};
  }
  if (lead == 0xf0) {
    return {3, 0x90, 0xbf};
  }
  if (lead == 0xf4) {
    return {3, 0x80, 0x8f};
  }
  if (lead >= 0xf1 && lead <= 0xf3) {
    return {3};
  }
  return {};
}

// How many bytes from `at` on are ASCII, counted in eights: nearly all texts are nothing else.
std::size_t ascii_from(std::string_view text, std::size_t at) {
  constexpr std::uint64_t high_bits = 0x8080808080808080u;
  std::size_t end = at;
  std::uint64_t eight = 0;
  while (text.size() - end >= sizeof eight) {
    std::memcpy(&eight, text.data() + end, sizeof eight);
    if ((eight & high_bits) != 0) {
      break;
    }
    end += sizeof eight;
  }
  return end - at;
}

// How many bytes the character at `at` has; 0 where none is well formed.
std::size_t length_at(std::string_view text, std::size_t at) {
  const Sequence sequence = sequence_of(static_cast<unsigned char>(text[at]));
  const auto following = static_cast<std::size_t>(std::max(sequence.following, 0));
  if (sequence.following < 0 || at + following >= text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i <= following; ++i) {
    const auto byte = static_cast<unsigned char>(text[at + i]);
    const bool fits =
        i == 1 ? byte >= sequence.low && byte <= sequence.high : byte >= 0x80 && byte <= 0xbf;
    if (!fits) {
      return 0;
    }
  }
  return following + 1;
}

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

}  // namespace

bool is_utf8(std::string_view text) {
  std::size_t i = ascii_from(text, 0);
  while (i < text.size()) {
    const std::size_t length = length_at(text, i);
    if (length == 0) {
      return false;
    }
    i += length;
  }
  return true;
}

std::string to_utf8(std::string_view text) {
  if (is_utf8(text) && text.find('\0') == std::string_view::npos) {
    return std::string{text};
  }
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = text[i] == '\0' ? 0 : length_at(text, i);
    out += length == 0 ? replacement : text.substr(i, length);
    i += std::max<std::size_t>(length, 1);
  }
  return out;
}

std::string to_line(std::string_view text, std::size_t bytes_max) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (out.size() >= bytes_max) {
      return out + "...";
    }
    const std::size_t length = length_at(text, i);
    const auto byte = static_cast<unsigned char>(text[i]);
    if (length == 0) {
      out += replacement;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += ' ';
    } else {
      out += text.substr(i, length);
    }
    i += std::max<std::size_t>(length, 1);
  }
  return out;
}

}  // namespace flow
