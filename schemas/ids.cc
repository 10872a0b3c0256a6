#include "schemas/ids.h"

namespace flow {

std::optional<RequestId> parse_request_id(std::string_view text) {
  constexpr std::size_t length = 36;
  if (text.size() != length) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < length; ++i) {
    const char c = text[i];
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    if (dash ? c != '-' : !hex) {
      return std::nullopt;
    }
  }
  return RequestId{std::string{text}};
}

}  // namespace flow
