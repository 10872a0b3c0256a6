#include "connectors/kafka/java_properties.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace flow::kafka {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

void append_utf8(std::string& out, std::uint32_t point) {
  const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
  if (point < 0x80) {
    out += byte(point);
  } else if (point < 0x800) {
    out += byte(0xc0 | (point >> 6));
    out += byte(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    out += byte(0xe0 | (point >> 12));
    out += byte(0x80 | ((point >> 6) & 0x3f));
    out += byte(0x80 | (point & 0x3f));
  } else {
    out += byte(0xf0 | (point >> 18));
    out += byte(0x80 | ((point >> 12) & 0x3f));
    out += byte(0x80 | ((point >> 6) & 0x3f));
    out += byte(0x80 | (point & 0x3f));
  }
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4 || i + length > text.size()) {
      return false;
    }
    for (std::size_t next = i + 1; next < i + length; ++next) {
      if ((static_cast<unsigned char>(text[next]) & 0xc0) != 0x80) {
        return false;
      }
    }
    i += length;
  }
  return true;
}

std::string as_utf8(std::string_view text) {
  if (is_utf8(text)) {
    return std::string{text};
  }
  std::string out;
  for (const char c : text) {
    append_utf8(out, static_cast<unsigned char>(c));
  }
  return out;
}

std::optional<std::uint32_t> hex4(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) {
    return std::nullopt;
  }
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    const char c = text[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) {
      return std::nullopt;
    }
    value = value * 16 + static_cast<std::uint32_t>(digit);
  }
  return value;
}

// Reads what follows "\u" at `at`, a second surrogate included, and moves `at` behind it.
bool unescape_unicode(std::string_view text, std::size_t& at, std::string& out) {
  const auto first = hex4(text, at);
  if (!first) {
    return false;
  }
  at += 4;
  std::uint32_t point = *first;
  if (point >= 0xd800 && point < 0xdc00 && text.substr(at, 2) == "\\u") {
    const auto second = hex4(text, at + 2);
    if (second && *second >= 0xdc00 && *second < 0xe000) {
      point = 0x10000 + ((point - 0xd800) << 10) + (*second - 0xdc00);
      at += 6;
    }
  }
  append_utf8(out, point);
  return true;
}

std::optional<std::string> unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i++];
    if (c != '\\') {
      out += c;
      continue;
    }
    if (i == text.size()) {
      break;  // a backslash that ends the file
    }
    const char escaped = text[i++];
    switch (escaped) {
      case 't':
        out += '\t';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 'f':
        out += '\f';
        break;
      case 'u':
        if (!unescape_unicode(text, i, out)) {
          return std::nullopt;
        }
        break;
      default:
        out += escaped;
    }
  }
  return out;
}

struct LogicalLine {
  std::string text;
  int line = 0;
};

// Cuts the text into lines, joins those that end in an odd number of backslashes with the next, and
// leaves out comments and empty lines.
std::vector<LogicalLine> logical_lines(std::string_view text) {
  std::vector<LogicalLine> lines;
  bool continued = false;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const auto end = text.find_first_of("\r\n");
    std::string_view line = text.substr(0, end);
    const bool crlf = end != std::string_view::npos && text.substr(end, 2) == "\r\n";
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + (crlf ? 2 : 1));
    while (!line.empty() && is_blank(line.front())) {
      line.remove_prefix(1);
    }
    if (!continued && (line.empty() || line.front() == '#' || line.front() == '!')) {
      continue;
    }
    const auto last = line.find_last_not_of('\\');
    const auto backslashes = line.size() - (last == std::string_view::npos ? 0 : last + 1);
    const bool continues = backslashes % 2 == 1;
    if (!continued) {
      lines.push_back({{}, number});
    }
    lines.back().text += continues ? line.substr(0, line.size() - 1) : line;
    continued = continues;
  }
  return lines;
}

// Where the key ends: at the first separator that is not escaped.
std::size_t key_length(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '=' || line[i] == ':' || is_blank(line[i])) {
      return i;
    }
  }
  return line.size();
}

}  // namespace

Result<std::vector<Property>> parse_properties(std::string_view text, const std::string& file) {
  const std::string utf8 = as_utf8(text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text);
  std::vector<Property> properties;
  for (const auto& [line, number] : logical_lines(utf8)) {
    std::string_view rest = line;
    const auto length = key_length(rest);
    const auto key = unescape(rest.substr(0, length));
    rest.remove_prefix(length);
    bool separated = false;
    while (!rest.empty() && (is_blank(rest.front()) ||
                             (!separated && (rest.front() == '=' || rest.front() == ':')))) {
      separated = separated || !is_blank(rest.front());
      rest.remove_prefix(1);
    }
    auto value = unescape(rest);
    if (!key || !value) {
      return error(Errc::invalid, file + ":" + std::to_string(number) +
                                      ": a \\u escape needs four hexadecimal digits");
    }
    const auto same = std::find_if(properties.begin(), properties.end(),
                                   [&](const auto& other) { return other.key == *key; });
    if (same == properties.end()) {
      properties.push_back({*key, std::move(*value), number});
    } else {
      *same = {*key, std::move(*value), number};
    }
  }
  return properties;
}

}  // namespace flow::kafka
