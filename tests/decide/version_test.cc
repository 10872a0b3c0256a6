#include "engine/decide/version.h"

#include <catch2/catch.hpp>

namespace flow::test {
namespace {

TEST_CASE("versions are compared number by number", "[version]") {
  const auto [version, than, older] = GENERATE(table<std::string, std::string, bool>({
      {"0.1.0", "0.1.0", false},
      {"0.1.0", "0.1.1", true},
      {"0.1.1", "0.1.0", false},
      {"0.9.0", "0.10.0", true},
      {"0.10.0", "0.9.0", false},
      {"1.0", "1.0.0", false},
      {"1", "1.0.1", true},
      {"0.1.0", "", false},
      {"0.1.0-dev", "0.1.0", false},
      {"0.1.0+x", "0.1.1-rc1", true},
  }));
  CAPTURE(version, than);
  CHECK(decide::is_older(version, than) == older);
}

}  // namespace
}  // namespace flow::test
