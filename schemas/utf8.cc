#include "schemas/utf8.h"

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

}  // namespace

bool is_utf8(std::string_view text) {
  std::size_t i = ascii_from(text, 0);
  while (i < text.size()) {
    Sequence sequence = sequence_of(static_cast<unsigned char>(text[i++]));
    if (sequence.following < 0) {
      return false;
    }
    for (; sequence.following > 0; --sequence.following) {
      const unsigned char byte = i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
      if (byte < sequence.low || byte > sequence.high) {
        return false;
      }
      ++i;
      sequence.low = 0x80;
      sequence.high = 0xbf;
    }
  }
  return true;
}

}  // namespace flow
