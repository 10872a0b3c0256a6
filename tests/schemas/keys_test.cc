#include <catch2/catch.hpp>

#include "schemas/keys.h"
#include "tests/support/builders.h"
#include "tests/support/random.h"
#include "tests/support/string_makers.h"

namespace flow::test {
namespace {

const std::string id = "00000000-0000-4000-8000-000000000001";

TEST_CASE("a record's key is readable text, and is found again from its bytes", "[keys]") {
  const auto [text, key] = GENERATE(table<std::string, RecordKey>({
      {id + "/request", {Kind::request, id_of(1), {}, {}}},
      {id + "/cancel", {Kind::cancel, id_of(1), {}, {}}},
      {id + "/guard", {Kind::guard, id_of(1), {}, {}}},
      {id + "/intent", {Kind::intent, id_of(1), {}, {}}},
      {id + "/intent/east", {Kind::intent, id_of(1), "east", {}}},
      {id + "/intent/a/b", {Kind::intent, id_of(1), "a/b", {}}},
      {id + "/result/g/5", {Kind::result, id_of(1), "g", LeaderNumber{5}}},
      {id + "/result/a/b/0", {Kind::result, id_of(1), "a/b", LeaderNumber{0}}},
      {id + "/result/a/7/5", {Kind::result, id_of(1), "a/7", LeaderNumber{5}}},
      {id + "/result///5", {Kind::result, id_of(1), "/", LeaderNumber{5}}},
      {id + "/result/g/9223372036854775807",
       {Kind::result, id_of(1), "g", LeaderNumber{9223372036854775807}}},
      {id + "/done/17", {Kind::done, id_of(1), {}, LeaderNumber{17}}},
      {id + "/verified/g", {Kind::verified, id_of(1), "g", {}}},
      {id + "/verified/a/b/3", {Kind::verified, id_of(1), "a/b/3", {}}},
      {id + "/verified/done", {Kind::verified, id_of(1), "done", {}}},
      {id + "/verified/grüße", {Kind::verified, id_of(1), "grüße", {}}},
      {id + "/step/1", {Kind::step, id_of(1), "1", {}}},
      {"engine", {Kind::engine, {}, {}, {}}},
      {"log", {Kind::log, {}, {}, {}}},
      {"annotations", {Kind::annotations, {}, {}, {}}},
      {"savepoint", {Kind::savepoint, {}, {}, {}}},
      {"schedule", {Kind::schedule, {}, {}, {}}},
  }));
  CAPTURE(text);
  REQUIRE(encode_key(key) == text);
  REQUIRE(decode_key(text) == key);
}

TEST_CASE("bytes that no record can stand under are no key", "[keys]") {
  const std::string text =
      GENERATE("", "/", "request", "guard", "done/5", "engine/", "engine/1", "log/x", "Engine", "x",
               id, id + "/", id + "/engine", id + "/log", id + "/annotations", id + "/savepoint",
               id + "/Request", id + "/requests", id + "/request/", id + "/request/x",
               id + "/cancel/x", id + "/guard/1", id + "/intent/", id + "/result", id + "/result/",
               id + "/result/g", id + "/result//5", id + "/result/5", id + "/result/g/",
               id + "/result/g/x", id + "/result/g/-5", id + "/result/g/+5", id + "/result/g/05",
               id + "/result/g/5 ", id + "/result/g/-0", id + "/result/g/00", id + "/result/g/0x5",
               id + "/result/g/9223372036854775808", id + "/done", id + "/done/", id + "/done/x",
               id + "/done/5/", id + "/done/5/6", id + "/done/-1", id + "/done/-0",
               id + "/verified", id + "/verified/", id + "/step", id + "//request",
               " " + id + "/request", "00000000-0000-4000-8000-00000000000/request",
               "00000000-0000-4000-8000-0000000000001/request",
               "00000000-0000-4000-8000-00000000000A/request",
               "00000000_0000_4000_8000_000000000001/request",
               "{0000000-0000-4000-8000-000000000001/request", std::string(36, '/') + "/request");
  CAPTURE(text);
  REQUIRE_FALSE(decode_key(text).has_value());
}

TEST_CASE("a key's bytes are unique, and every readable key is canonical", "[keys]") {
  const auto seed = number_from_environment("FLOW_SEED", 1);
  CAPTURE(seed);
  Random random{seed};
  const std::vector<std::string> parts{
      id,   "/", "request", "result", "done", "verified", "intent", "5",
      "05", "g", "",        "engine", "\xff", "//",       "-1",     "9223372036854775807"};
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = random.chance(80) ? id + "/" : "";
    for (auto n = random.below(6); n > 0; --n) {
      bytes += random.pick(parts);
    }
    if (const auto key = decode_key(bytes)) {
      REQUIRE(encode_key(*key) == bytes);
    }
  }
}

TEST_CASE("every kind of record stands under the key of its kind", "[keys]") {
  for (const auto& [name, record] : full_records()) {
    CAPTURE(name);
    const auto key = key_of(record);
    REQUIRE(to_string(key.kind) == name);
    REQUIRE(decode_key(encode_key(key)) == key);
  }
}

TEST_CASE("an id is a canonical UUID in lower case", "[keys]") {
  REQUIRE(parse_request_id(id) == RequestId{id});
  const std::string text =
      GENERATE("", "00000000-0000-4000-8000-00000000000", "00000000-0000-4000-8000-0000000000011",
               "00000000-0000-4000-8000-00000000000g", "00000000-0000-4000-8000-00000000000A",
               "000000000-000-4000-8000-000000000001", "00000000-0000-4000-8000 000000000001",
               std::string("00000000-0000-4000-8000-00000000000\0", 36));
  CAPTURE(text);
  REQUIRE_FALSE(parse_request_id(text).has_value());
}

}  // namespace
}  // namespace flow::test
