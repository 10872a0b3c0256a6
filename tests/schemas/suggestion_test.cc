#include "schemas/suggestion.h"

#include <catch2/catch.hpp>

namespace flow::test {

TEST_CASE("a typing error or two are seen through, another word is not", "[suggestion]") {
  const std::vector<std::string> known{"reset", "status", "history", "go"};
  CHECK(likely_meant("rest", known) == "reset");
  CHECK(likely_meant("stauts", known) == "status");
  CHECK(likely_meant("histroy", known) == "history");
  CHECK(likely_meant("describe", known).empty());
  CHECK(likely_meant("xx", known).empty());
  CHECK(likely_meant("reset", {}).empty());
  CHECK(suggestion("rest", known) == "did you mean 'reset'?");
  CHECK(suggestion("describe", known) == "known are: reset, status, history, go");
}

TEST_CASE("of many names the first ten are told", "[suggestion]") {
  std::vector<std::string> known;
  for (int i = 0; i < 12; ++i) {
    known.push_back("pipeline-" + std::string(1, static_cast<char>('a' + i)));
  }
  CHECK(suggestion("x", known) ==
        "known are: pipeline-a, pipeline-b, pipeline-c, pipeline-d, pipeline-e, pipeline-f, "
        "pipeline-g, pipeline-h, pipeline-i, pipeline-j and 2 more");
}

}  // namespace flow::test
