#include "connectors/kafka/jaas.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <vector>

namespace flow::kafka {
namespace {

struct Token {
  std::string text;
  bool quoted = false;
};

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// What follows a backslash in a quoted text, as java.io.StreamTokenizer reads it; `at` is left on
// its last character.
char unescape(std::string_view text, std::size_t& at) {
  constexpr std::string_view names = "abfnrtv";
  constexpr std::string_view meant = "\a\b\f\n\r\t\v";
  if (const auto found = names.find(text[at]); found != std::string_view::npos) {
    return meant[found];
  }
  const auto is_octal = [&](std::size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '7';
  };
  if (!is_octal(at)) {
    return text[at];
  }
  const std::size_t digits_max = text[at] <= '3' ? 3 : 2;
  int value = text[at] - '0';
  for (std::size_t digits = 1; digits < digits_max && is_octal(at + 1); ++digits) {
    value = value * 8 + (text[++at] - '0');
  }
  return static_cast<char>(value);
}

// The tokens of java.io.StreamTokenizer as JaasConfig sets it up: words, quoted texts with escapes,
// '=', ';'.
Result<std::vector<Token>> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (is_space(c)) {
      ++i;
    } else if (c == '=' || c == ';') {
      tokens.push_back({std::string{c}, false});
      ++i;
    } else if (c == '"' || c == '\'') {
      Token token{{}, true};
      for (++i; i < text.size() && text[i] != c; ++i) {
        if (text[i] == '\\' && i + 1 < text.size()) {
          token.text += unescape(text, ++i);
        } else {
          token.text += text[i];
        }
      }
      if (i == text.size()) {
        return error(Errc::invalid, "a quoted text has no end");
      }
      ++i;
      tokens.push_back(std::move(token));
    } else {
      Token token;
      while (i < text.size() && !is_space(text[i]) && text[i] != '=' && text[i] != ';') {
        token.text += text[i++];
      }
      tokens.push_back(std::move(token));
    }
  }
  return tokens;
}

bool is_mark(const Token& token, const char* mark) { return !token.quoted && token.text == mark; }

bool is_control_flag(std::string word) {
  constexpr std::array<std::string_view, 4> flags{"required", "requisite", "sufficient",
                                                  "optional"};
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(flags.begin(), flags.end(), word) != flags.end();
}

}  // namespace

Result<JaasEntry> parse_jaas(std::string_view text) {
  BOOST_OUTCOME_TRY(const auto tokens, tokens_of(text));
  if (tokens.empty() || is_mark(tokens.front(), "=") || is_mark(tokens.front(), ";")) {
    return error(Errc::invalid, "the login module's class is missing");
  }
  JaasEntry entry{tokens.front().text, {}};
  if (tokens.size() < 2 || !is_control_flag(tokens[1].text)) {
    return error(Errc::invalid, "'required' is missing after the login module's class");
  }
  std::size_t at = 2;
  while (at < tokens.size() && !is_mark(tokens[at], ";")) {
    if (at + 2 >= tokens.size() || !is_mark(tokens[at + 1], "=") || is_mark(tokens[at + 2], ";")) {
      return error(Errc::invalid,
                   "an option must read name=\"value\", and a ';' must end the entry");
    }
    entry.options[tokens[at].text] = tokens[at + 2].text;
    at += 3;
  }
  if (at == tokens.size()) {
    return error(Errc::invalid, "the ';' at the end is missing");
  }
  if (at + 1 != tokens.size()) {
    return error(Errc::invalid, "only one login module can be used");
  }
  return entry;
}

}  // namespace flow::kafka
