#pragma once

#include <string>
#include <string_view>

namespace flow {

// Whether `text` is well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above
// U+10FFFF).
bool is_utf8(std::string_view text);

// Returns `text` as UTF-8 without NUL: each byte that does not belong there becomes U+FFFD.
std::string to_utf8(std::string_view text);

// Returns `text` for people: one line of UTF-8 without control characters, at most about
// `bytes_max` long.
std::string to_line(std::string_view text, std::size_t bytes_max);

}  // namespace flow
