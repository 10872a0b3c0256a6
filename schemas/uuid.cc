#include <openssl/rand.h>

#include <array>

#include "schemas/codec.h"

namespace flow {

std::string random_uuid() {
  std::array<unsigned char, 16> bytes{};
  const int filled = RAND_bytes(bytes.data(), static_cast<int>(bytes.size()));
  FLOW_ASSERT(filled == 1, "the system's random source gave nothing");
  // RFC 9562: version 4 in the high half of byte 6, variant 10 in the high bits of byte 8.
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      text += '-';
    }
    text += digits[bytes[i] >> 4];
    text += digits[bytes[i] & 0xf];
  }
  return text;
}

}  // namespace flow
