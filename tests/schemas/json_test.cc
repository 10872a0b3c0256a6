#include <catch2/catch.hpp>

#include "schemas/codec.h"
#include "tests/support/builders.h"
#include "tests/support/string_makers.h"

// Anyone may write a request as JSON text. A mistake must be told by name and never mean something
// else.
namespace flow::test {
namespace {

const std::string id = "00000000-0000-4000-8000-000000000001";
const RecordKey request_key{Kind::request, id_of(1), {}, {}};

// A request with `more` beside its id and position.
std::string with(const std::string& more) {
  return R"({"body_type":"Request","body":{"id":")" + id + R"(","position":{"kind":"earliest"})" +
         more + "}}";
}

// A request with this position.
std::string at_position(const std::string& position) {
  return R"({"body_type":"Request","body":{"id":")" + id + R"(","position":)" + position + "}}";
}

using Row = std::pair<std::string, std::string>;

TEST_CASE("what a JSON request says is what is read", "[json]") {
  const auto decoded = decode(request_key, R"( {"body": {"position": {"kind": "instant",
      "instant_ms": 1700000000000}, "groups": ["a/b", "grüße"], "asked_by": null,
      "topics": [{"name": "t", "partitions": [0, 2]}, {"name": "u"}], "through": "record",
      "options": {"hold": true}, "expires_at_ms": 5, "id": ")" +
                                               id + R"("}, "body_type": "Request"}
      )");
  REQUIRE(decoded);
  Request request;
  request.id = id_of(1);
  request.groups = {GroupId{"a/b"}, GroupId{"grüße"}};
  request.topics = {{TopicName{"t"}, {0, 2}}, {TopicName{"u"}, {}}};
  request.position.kind = PositionKind::instant;
  request.position.instant = Instant{1'700'000'000'000};
  request.options.hold = true;
  request.expires_at = Instant{5};
  REQUIRE(decoded.value() == Record{request});
}

TEST_CASE("a mistake in a JSON request is named with its field", "[json]") {
  const auto [text, detail] = GENERATE(
      Row{with(R"(,"postion":{})"), "body.postion: unknown field 'postion' in Request"},
      Row{at_position(R"({"kind":"earliest","ofset":5})"),
          "body.position.ofset: unknown field 'ofset' in Position"},
      Row{with(R"(,"options":{"atomik":true})"), "body.options.atomik: unknown field"},
      Row{with(R"(,"topics":[{"name":"t"},{"nam":"t"}])"), "body.topics[1].nam: unknown field"},
      Row{with(R"(,"position_type":1)"), "unknown field 'position_type'"},
      Row{R"({"body_type":"Request","body":{},"extra":1})", "extra: unknown field 'extra'"},
      // Enums: one name, or a number in range.
      Row{at_position(R"({"kind":"fancy"})"), "body.position.kind: 'fancy' is none of earliest,"},
      Row{at_position(R"({"kind":"latest offset"})"), "'latest offset' is none of earliest,"},
      Row{at_position(R"({"kind":"Earliest"})"), "'Earliest' is none of earliest,"},
      Row{at_position(R"({"kind":""})"), "'' is none of earliest,"},
      Row{at_position(R"({"kind":"3"})"), "'3' is none of earliest,"},
      Row{at_position(R"({"kind":256})"), "256"}, Row{at_position(R"({"kind":-1})"), "-1"},
      Row{at_position(R"({"kind":1.5})"),
          "body.position.kind: is neither a name nor a whole number"},
      Row{at_position(R"({"kind":true})"),
          "body.position.kind: is neither a name nor a whole number"},
      Row{with(R"(,"through":"phone")"), "body.through: 'phone' is none of record, cli,"},
      // What must be there.
      Row{at_position("null"), "position"}, Row{at_position("{}"), "position.kind: is missing"},
      Row{at_position(R"({"kind":null})"), "position.kind: is missing"},
      Row{R"({"body_type":"Request","body":{"id":")" + id + R"("}})", "position"},
      Row{R"({"body_type":"Request","body":{"position":{"kind":"earliest"}}})", "id"},
      Row{R"({"body_type":"Request"})", "body: is missing"},
      Row{R"({"body":{}})", "body_type: is missing"}, Row{R"({})", "body: is missing"},
      Row{with(R"(,"topics":[{"partitions":[0]}])"), "name"},
      Row{at_position(R"({"kind":"file","partitions":[{"topic":"t"}]})"),
          "partitions.partition: is missing"},
      // Wrong types.
      Row{with(R"(,"asked_at_ms":"5")"), "body.asked_at_ms: is not a whole number"},
      Row{with(R"(,"asked_at_ms":5.0)"), "body.asked_at_ms: is not a whole number"},
      Row{with(R"(,"asked_at_ms":1e3)"), "body.asked_at_ms: is not a whole number"},
      Row{with(R"(,"asked_at_ms":true)"), "body.asked_at_ms: is not a whole number"},
      Row{with(R"(,"asked_at_ms":99999999999999999999)"),
          "body.asked_at_ms: is not a whole number"},
      Row{with(R"(,"asked_at_ms":9223372036854775808)"), "body.asked_at_ms: is not a whole number"},
      Row{with(R"(,"topics":[{"name":"t","partitions":[2147483648]}])"), "2147483648"},
      Row{with(R"(,"never_expires":1)"), "body.never_expires: is neither true nor false"},
      Row{with(R"(,"never_expires":"true")"), "body.never_expires: is neither true nor false"},
      Row{with(R"(,"asked_by":5)"), "body.asked_by: is not a text"},
      Row{with(R"(,"groups":"a")"), "body.groups: is not a list"},
      Row{with(R"(,"groups":{"a":1})"), "body.groups: is not a list"},
      Row{with(R"(,"groups":[5])"), "body.groups[0]: is not a text"},
      Row{with(R"(,"groups":[null])"), "body.groups[0]: is null"},
      Row{with(R"(,"options":[])"), "body.options: is not an object"},
      Row{R"({"body_type":"Request","body":[]})", "body: is not an object"},
      Row{R"({"body_type":true,"body":{}})", "body_type: is neither a name nor a whole number"},
      Row{R"({"body_type":"Fancy","body":{}})", "body_type: 'Fancy' is none of Request,"},
      Row{R"({"body_type":77,"body":{}})", "body"},
      Row{R"({"body_type":"NONE","body":{}})", "body"},
      Row{R"({"body_type":"Cancel","body":{"id":")" + id + R"("}})",
          "body_type: is not the kind 'request'"},
      // Said twice.
      Row{with(R"(,"position":{"kind":"latest"})"), "more than once: position"},
      Row{with(R"(,"asked_at_ms":1,"asked_at_ms":1)"), "more than once: asked_at_ms"},
      Row{R"({"body_type":"Request","body_type":"Cancel","body":{"id":")" + id + R"("}})",
          "more than once: body_type"},
      // Not JSON text.
      Row{with(",}"), "not JSON text: syntax error"}, Row{with("/* */"), "not JSON text"},
      Row{with("// \n"), "not JSON text"}, Row{with(R"(,"asked_by":'x')"), "not JSON text"},
      Row{with(R"(,asked_by:"x")"), "not JSON text"},
      Row{with(R"(,"asked_at_ms":0x10)"), "not JSON"},
      Row{with(R"(,"asked_at_ms":010)"), "not JSON"}, Row{with(R"(,"asked_at_ms":+1)"), "not JSON"},
      Row{with(R"(,"asked_at_ms":nan)"), "not JSON"},
      Row{with(R"(,"asked_at_ms":rad(1))"), "not JSON"},
      Row{with(",\"asked_by\":\"\xff\""), "not JSON text"},
      Row{with(R"(,"asked_by":"\ud800")"), "not JSON text"},
      Row{with(R"(,"asked_by":"\x41")"), "not JSON text"},
      Row{with(",\"asked_by\":\"a\nb\""), "not JSON text"}, Row{"{", "not JSON text: incomplete"},
      Row{with("") + "x", "not JSON text: extra data"},
      Row{with("") + with(""), "not JSON text: extra"},
      Row{with("").substr(0, 60), "not JSON text: incomplete"},
      // NUL, written out and as an escape; and a text that is no id.
      Row{with(R"(,"asked_by":"a\u0000b")"), "asked_by: a NUL byte"},
      Row{with(R"(,"streamlets":["a\u0000b"])"), "streamlets: a NUL byte"},
      Row{with(std::string{R"(,"asked_by":"a)"} + '\0' + R"(")"), "NUL byte"},
      Row{R"({"body_type":"Request","body":{"id":"x","position":{"kind":"earliest"}}})",
          "id: 'x' is not a UUID"});
  CAPTURE(text);
  const auto decoded = decode(request_key, text);
  REQUIRE_FALSE(decoded);
  CHECK(decoded.error().errc == Errc::invalid);
  CHECK_THAT(decoded.error().detail, Catch::Contains(detail));
  CHECK(decoded.error().detail.find('\n') == std::string::npos);
  CHECK_FALSE(is_readable(request_key, text));
}

TEST_CASE("an enum number that this version does not know is of a newer one", "[json]") {
  const auto [text, detail] = GENERATE(
      Row{at_position(R"({"kind":9})"), "position.kind: the value 9 is of a newer version"},
      Row{at_position(R"({"kind":255})"), "position.kind: the value 255"},
      Row{with(R"(,"through":4)"), "through: the value 4"});
  CAPTURE(text);
  const auto decoded = decode(request_key, text);
  REQUIRE_FALSE(decoded);
  CHECK(decoded.error().errc == Errc::refused);
  CHECK_THAT(decoded.error().detail, Catch::Contains(detail));
}

TEST_CASE("deep nesting ends in an error, and the next text is read again", "[json]") {
  const std::string deep = GENERATE(R"({"body_type":"Request","body":)" + std::string(100'000, '['),
                                    R"({"body_type":"Request","body":)" +
                                        std::string(100'000, '[') + std::string(100'000, ']') + "}",
                                    []() {
                                      std::string text;
                                      for (int i = 0; i < 100'000; ++i) {
                                        text += R"({"body":)";
                                      }
                                      return text;
                                    }());
  REQUIRE_FALSE(decode(request_key, deep));
  REQUIRE(decode(request_key, with("")));
}

TEST_CASE("every start of a good text is a bad text", "[json]") {
  const auto text = to_json(full_records().front().second);
  for (std::size_t size = 0; size < text.size(); ++size) {
    CAPTURE(size);
    REQUIRE_FALSE(decode(request_key, std::string_view{text}.substr(0, size)));
  }
  REQUIRE(decode(request_key, text));
}

}  // namespace
}  // namespace flow::test
