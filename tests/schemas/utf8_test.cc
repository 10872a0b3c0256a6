#include "schemas/utf8.h"

#include <catch2/catch.hpp>

namespace flow::test {
namespace {

using Row = std::pair<std::string, bool>;

TEST_CASE("only well-formed UTF-8 counts as text", "[utf8]") {
  const auto [text, wellformed] = GENERATE(
      Row{"", true}, Row{"plain text that is longer than eight bytes", true}, Row{"é", true},
      Row{"\xe2\x82\xac", true}, Row{"\xf0\x9f\x98\x80", true}, Row{"\xed\x9f\xbf", true},
      Row{"\xee\x80\x80", true}, Row{"\xf4\x8f\xbf\xbf", true}, Row{"\xef\xbf\xbf", true},
      Row{"\x80", false}, Row{"\xc0\x80", false}, Row{"\xc1\xbf", false}, Row{"\xc2", false},
      Row{"\xe0\x9f\xbf", false}, Row{"\xed\xa0\x80", false}, Row{"\xe2\x82", false},
      Row{"\xf0\x8f\xbf\xbf", false}, Row{"\xf4\x90\x80\x80", false},
      Row{"\xf5\x80\x80\x80", false}, Row{"\xff", false}, Row{"12345678\xff", false},
      Row{"1234567\xc3\xa9", true}, Row{"\xe2\x28\xa1", false});
  CAPTURE(text);
  REQUIRE(is_utf8(text) == wellformed);
}

TEST_CASE("what is not text is replaced, byte by byte", "[utf8]") {
  const std::string bad = "\xef\xbf\xbd";
  REQUIRE(to_utf8("fine é") == "fine é");
  REQUIRE(to_utf8("a\xff"
                  "b") == "a" + bad + "b");
  REQUIRE(to_utf8(std::string("a\0b", 3)) == "a" + bad + "b");
  REQUIRE(to_utf8("\xe2\x82") == bad + bad);
}

TEST_CASE("what people read is one short line", "[utf8]") {
  REQUIRE(to_line("a\nb\tc\x7f"
                  "d",
                  100) == "a b c d");
  REQUIRE(to_line("éé", 2) == "é...");
  REQUIRE(to_line("\xff"
                  "a",
                  100) ==
          "\xef\xbf\xbd"
          "a");
  REQUIRE(to_line(std::string(1'000, 'x'), 10) == "xxxxxxxxxx...");
}

}  // namespace
}  // namespace flow::test
