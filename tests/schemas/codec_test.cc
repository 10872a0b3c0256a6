#include "schemas/codec.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/support/builders.h"
#include "tests/support/string_makers.h"

namespace flow::test {
namespace {

std::string golden_path(const std::string& kind) {
  return std::string{FLOW_GOLDEN} + "/" + kind + ".v1.bin";
}

std::string read_file(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}};
}

TEST_CASE("a record is the same after the wire, in both forms", "[codec]") {
  auto records = full_records();
  const auto bare = bare_records();
  records.insert(records.end(), bare.begin(), bare.end());
  for (const auto& [name, record] : records) {
    CAPTURE(name);
    const auto key = key_of(record);
    const auto bytes = encode(record);
    const auto decoded = decode(key, bytes);
    REQUIRE(decoded);
    CHECK(decoded.value() == record);
    CHECK(is_readable(key, bytes));
    CHECK(encode(decoded.value()) == bytes);

    const auto text = to_json(record);
    CAPTURE(text);
    CHECK(text.find('\n') == std::string::npos);
    const auto from_text = decode(key, text);
    REQUIRE(from_text);
    CHECK(from_text.value() == record);
    CHECK(is_readable(key, text));
  }
}

TEST_CASE("a record is read wherever its bytes begin", "[codec]") {
  for (const auto& [name, record] : full_records()) {
    CAPTURE(name);
    for (std::size_t shift = 0; shift < 8; ++shift) {
      const auto bytes = std::string(shift, 'x') + encode(record);
      const auto decoded = decode(key_of(record), std::string_view{bytes}.substr(shift));
      REQUIRE(decoded);
      CHECK(decoded.value() == record);
    }
  }
}

// FLOW_WRITE_GOLDEN=1 writes the files anew: only for a kind that is new.
TEST_CASE("bytes that version 1 wrote are read for ever", "[codec][golden]") {
  const bool write = std::getenv("FLOW_WRITE_GOLDEN") != nullptr;
  for (const auto& [name, record] : full_records()) {
    CAPTURE(name);
    if (write) {
      std::ofstream{golden_path(name), std::ios::binary} << encode(record);
    }
    const auto bytes = read_file(golden_path(name));
    REQUIRE_FALSE(bytes.empty());
    const auto decoded = decode(key_of(record), bytes);
    REQUIRE(decoded);
    CHECK(decoded.value() == record);
    // Today's writer makes the same bytes. A field that is added later may change this, never the
    // above.
    CHECK(encode(record) == bytes);
  }
}

TEST_CASE("a value that says other than its key is not readable", "[codec]") {
  const auto result = result_of(1, "g", 5);
  const auto [key, record, detail] = GENERATE_COPY(table<RecordKey, Record, std::string>({
      {{Kind::request, id_of(2), {}, {}}, request_of(1), "id: "},
      {{Kind::cancel, id_of(1), {}, {}}, request_of(1), "body_type: "},
      {{Kind::request, id_of(1), {}, {}}, cancel_of(1), "body_type: "},
      {{Kind::cancel, id_of(2), {}, {}}, cancel_of(1), "id: "},
      {{Kind::guard, id_of(2), {}, {}}, guard_of(request_of(1)), "id: "},
      {{Kind::intent, id_of(1), "west", {}}, intent_of(1, "east"), "cluster: "},
      {{Kind::intent, id_of(2), "east", {}}, intent_of(1, "east"), "id: "},
      {{Kind::result, id_of(2), "g", LeaderNumber{5}}, result, "id: "},
      {{Kind::result, id_of(1), "h", LeaderNumber{5}}, result, "group: "},
      {{Kind::result, id_of(1), "g", LeaderNumber{6}}, result, "leader: "},
      {{Kind::done, id_of(1), {}, LeaderNumber{2}}, done_of(1), "leader: "},
      {{Kind::done, id_of(2), {}, LeaderNumber{1}}, done_of(1), "id: "},
      {{Kind::verified, id_of(1), "h", {}}, verified_of(1), "group: "},
      {{Kind::engine, {}, {}, {}}, LogBorn{"b", {}}, "body_type: "},
      {{Kind::log, {}, {}, {}}, EngineStarted{"e", {}, {}, {}, {}}, "body_type: "},
  }));
  CAPTURE(key, record);
  for (const auto& value : {encode(record), to_json(record)}) {
    const auto decoded = decode(key, value);
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error().errc == Errc::invalid);
    CHECK(decoded.error().detail.starts_with(detail));
    CHECK_FALSE(is_readable(key, value));
  }
}

TEST_CASE("a made-up id is a version 4 UUID, and another one each time", "[codec]") {
  const auto one = random_uuid();
  const auto other = random_uuid();
  REQUIRE(parse_request_id(one).has_value());
  REQUIRE(one[14] == '4');
  REQUIRE(std::string{"89ab"}.find(one[19]) != std::string::npos);
  REQUIRE(one != other);
}

}  // namespace
}  // namespace flow::test
