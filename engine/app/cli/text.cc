#include "engine/app/cli/text.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace flow::app {
namespace {

// Length of the UTF-8 character at the front of `text`; 0 where there is none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies beyond U+10FFFF.
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f) ||
      (lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f)) {
    return 0;
  }
  return length;
}

bool is_control(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return lead < 0x20 || lead == 0x7f;
  // U+0080 to U+009F: a terminal may take them as escapes.
  return character.size() == 2 && lead == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const auto character = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0 || is_control(character)) {
      for (const char c : character) {
        std::array<char, 8> escape{};
        std::snprintf(escape.data(), escape.size(), "\\x%02x", static_cast<unsigned char>(c));
        out += escape.data();
      }
    } else {
      out += character;
    }
    text.remove_prefix(character.size());
  }
  return out;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    out += length == 0 ? std::string_view{"\xef\xbf\xbd"} : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += between;
    text += parts[i];
  }
  return text;
}

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size());
  std::vector<std::vector<std::string>> shown;
  for (const auto& row : rows_) {
    auto& cells = shown.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back(row[i].empty() ? "-" : printable(row[i]));
      widths[i] = std::max(widths[i], width_of(cells[i]));
    }
  }
  std::string out;
  for (const auto& cells : shown) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      out += cells[i];
      // The last column is not padded: no spaces at a line's end.
      if (i + 1 < cells.size()) out += std::string(widths[i] - width_of(cells[i]) + 2, ' ');
    }
    out += '\n';
  }
  return out;
}

}  // namespace flow::app
