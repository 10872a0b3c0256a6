#include <catch2/catch.hpp>

#include "schemas/codec.h"
#include "schemas/control_generated.h"
#include "tests/support/builders.h"
#include "tests/support/random.h"
#include "tests/support/string_makers.h"

// Anyone may write anything on the control topic.
namespace flow::test {
namespace {

const RecordKey request_key{Kind::request, id_of(1), {}, {}};

std::string packed(const wire::EnvelopeT& envelope) {
  flatbuffers::FlatBufferBuilder builder;
  wire::FinishEnvelopeBuffer(builder, wire::Envelope::Pack(builder, &envelope));
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

wire::EnvelopeT unpacked(const Record& record) {
  wire::EnvelopeT envelope;
  const auto bytes = encode(record);
  wire::GetEnvelope(bytes.data())->UnPackTo(&envelope);
  return envelope;
}

// What decode says must never crash, must be told, and must be what the cheap check says.
void read_hostile(const RecordKey& key, std::string_view bytes) {
  const auto decoded = decode(key, bytes);
  if (is_readable(key, bytes) != decoded.has_value()) {
    FAIL("is_readable differs from decode for " << encode_key(key));
  }
  if (!decoded) {
    if (decoded.error().detail.empty() || decoded.error().detail.find('\n') != std::string::npos) {
      FAIL("an error without one line of text: " << decoded.error().detail);
    }
    return;
  }
  // Whatever could be read can be shown, written again, and is then the same.
  const auto again = decode(key, encode(decoded.value()));
  if (!again || again.value() != decoded.value() || to_json(decoded.value()).empty()) {
    FAIL("what was read once is not read again: " << encode_key(key));
  }
}

TEST_CASE("random bytes are never a record, and never a crash", "[hostile]") {
  const auto seed = number_from_environment("FLOW_SEED", 1);
  CAPTURE(seed);
  Random random{seed};
  const auto records = full_records();
  for (int i = 0; i < 20'000; ++i) {
    const auto key = key_of(random.pick(records).second);
    auto bytes = random.bytes(random.below(200));
    if (random.chance(50) && bytes.size() >= 8) {
      bytes.replace(4, 4, "FLOW");
    }
    if (random.chance(20)) {
      bytes.insert(0, "{");
    }
    read_hostile(key, bytes);
    REQUIRE_FALSE(decode(key, bytes));
  }
}

TEST_CASE("a good record with some bits or bytes changed is read or refused, never a crash",
          "[hostile]") {
  const auto seed = number_from_environment("FLOW_SEED", 1);
  CAPTURE(seed);
  Random random{seed};
  auto records = full_records();
  const auto bare = bare_records();
  records.insert(records.end(), bare.begin(), bare.end());
  for (int i = 0; i < 60'000; ++i) {
    const auto& record = random.pick(records).second;
    auto bytes = i % 4 == 0 ? to_json(record) : encode(record);
    for (auto n = 1 + random.below(4); n > 0; --n) {
      auto& byte = bytes[random.below(bytes.size())];
      byte = random.chance(50) ? static_cast<char>(byte ^ (1 << random.below(8)))
                               : static_cast<char>(random.next() & 0xff);
    }
    if (random.chance(10)) {
      bytes.resize(random.below(bytes.size()) + 1);
    }
    read_hostile(key_of(record), bytes);
  }
}

TEST_CASE("every start of a good record is refused, or lacks but padding", "[hostile]") {
  for (const auto& [name, record] : full_records()) {
    CAPTURE(name);
    const auto bytes = encode(record);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto start = std::string_view{bytes}.substr(0, size);
      const auto decoded = decode(key_of(record), start);
      if (decoded && decoded.value() != record) {
        FAIL("read as something else from its first " << size << " bytes of " << bytes.size());
      }
    }
  }
}

TEST_CASE("an empty value, a value too long and a foreign file identifier are named", "[hostile]") {
  REQUIRE(decode(request_key, "").error().detail == "the value is empty");
  REQUIRE_THAT(decode(request_key, std::string(record_bytes_max + 1, '{')).error().detail,
               Catch::Contains("more than 2097152"));
  auto bytes = encode(request_of(1));
  REQUIRE(decode(request_key, bytes));
  bytes[5] = 'X';
  REQUIRE_THAT(decode(request_key, bytes).error().detail, Catch::Contains("neither a FLOW"));
}

TEST_CASE("a record of a newer version is told from rubbish", "[hostile][newer]") {
  SECTION("a position kind") {
    auto envelope = unpacked(request_of(1));
    envelope.body.AsRequest()->position->kind = static_cast<wire::PositionKind>(9);
    CHECK(decode(request_key, packed(envelope)).error() ==
          Error{Errc::refused, "position.kind: the value 9 is of a newer version of flow"});
  }
  SECTION("the same inside a guard record") {
    const auto guard = guard_of(request_of(1));
    auto envelope = unpacked(guard);
    envelope.body.AsGuard()->request->position->kind = static_cast<wire::PositionKind>(200);
    CHECK(decode(key_of(guard), packed(envelope)).error().errc == Errc::refused);
  }
  SECTION("a verdict") {
    const auto guard = guard_of(request_of(1));
    auto envelope = unpacked(guard);
    envelope.body.AsGuard()->verdict = static_cast<wire::Verdict>(3);
    CHECK(decode(key_of(guard), packed(envelope)).error().errc == Errc::refused);
  }
  SECTION("an outcome, a standing, a way of asking") {
    auto done = unpacked(done_of(1));
    done.body.AsDone()->outcome = static_cast<wire::Outcome>(6);
    CHECK(decode(key_of(done_of(1)), packed(done)).error().errc == Errc::refused);
    auto verified = unpacked(verified_of(1));
    verified.body.AsVerified()->standing = static_cast<wire::Standing>(4);
    CHECK(decode(key_of(verified_of(1)), packed(verified)).error().errc == Errc::refused);
    auto request = unpacked(request_of(1));
    request.body.AsRequest()->through = static_cast<wire::Through>(4);
    CHECK(decode(request_key, packed(request)).error().errc == Errc::refused);
  }
  SECTION("a kind beyond the union") {
    flatbuffers::FlatBufferBuilder builder;
    const auto body = wire::CreateStep(builder);
    wire::EnvelopeBuilder envelope{builder};
    envelope.add_body_type(static_cast<wire::Body>(14));
    envelope.add_body(body.Union());
    wire::FinishEnvelopeBuffer(builder, envelope.Finish());
    const std::string bytes{reinterpret_cast<const char*>(builder.GetBufferPointer()),
                            builder.GetSize()};
    CHECK(decode(request_key, bytes).error().errc == Errc::refused);
    CHECK_FALSE(is_readable(request_key, bytes));
  }
  SECTION("a reserved kind") {
    flatbuffers::FlatBufferBuilder builder;
    const auto body = wire::CreateStep(builder);
    wire::FinishEnvelopeBuffer(builder,
                               wire::CreateEnvelope(builder, wire::Body::Step, body.Union()));
    const std::string bytes{reinterpret_cast<const char*>(builder.GetBufferPointer()),
                            builder.GetSize()};
    CHECK(decode({Kind::step, id_of(1), "1", {}}, bytes).error().errc == Errc::refused);
  }
}

TEST_CASE("a field that must be there is named where it is not", "[hostile]") {
  SECTION("outcome of a done") {
    auto done = unpacked(done_of(1));
    done.body.AsDone()->outcome = flatbuffers::nullopt;
    CHECK(decode(key_of(done_of(1)), packed(done)).error() ==
          Error{Errc::invalid, "outcome: is missing"});
  }
  SECTION("standing of a verified") {
    auto verified = unpacked(verified_of(1));
    verified.body.AsVerified()->standing = flatbuffers::nullopt;
    CHECK(decode(key_of(verified_of(1)), packed(verified)).error() ==
          Error{Errc::invalid, "standing: is missing"});
  }
  SECTION("kind of a position") {
    auto request = unpacked(request_of(1));
    request.body.AsRequest()->position->kind = flatbuffers::nullopt;
    CHECK(decode(request_key, packed(request)).error() ==
          Error{Errc::invalid, "position.kind: is missing"});
  }
}

TEST_CASE("texts are UTF-8 without NUL", "[hostile]") {
  const std::string text = GENERATE(std::string("\xff"), std::string("\xed\xa0\x80"),
                                    std::string("a\0b", 3), std::string("12345678\0", 9));
  SECTION("who reads refuses others") {
    auto request = unpacked(request_of(1));
    request.body.AsRequest()->asked_by = text;
    CHECK_FALSE(decode(request_key, packed(request)));
    request = unpacked(request_of(1));
    request.body.AsRequest()->topics[0]->name = text;
    CHECK_FALSE(decode(request_key, packed(request)));
    const auto guard = guard_of(request_of(1));
    auto envelope = unpacked(guard);
    envelope.body.AsGuard()->targets[0]->inlet = text;
    CHECK_FALSE(decode(key_of(guard), packed(envelope)));
  }
  SECTION("who writes mends what others said") {
    auto guard = guard_of(request_of(1));
    guard.reasons = {{text, Instant{1}, {}, {}, false}};
    guard.seen = Seen{Instant{1}, {{GroupId{"g"}, text, {{text, text, text, text}}}}, {}};
    const auto decoded = decode(key_of(guard), encode(guard));
    REQUIRE(decoded);
    CHECK_THAT(std::get<Guard>(decoded.value()).reasons[0].text, Catch::Contains("\xef\xbf\xbd"));
  }
}

TEST_CASE("a small value that unfolds to a huge one is refused", "[hostile]") {
  flatbuffers::FlatBufferBuilder builder;
  const auto long_name = builder.CreateString(std::string(100'000, 'x'));
  const auto topic = wire::CreateTopicSelection(builder, long_name);
  const auto topics =
      builder.CreateVector(std::vector<flatbuffers::Offset<wire::TopicSelection>>(200'000, topic));
  const auto id = builder.CreateString(id_of(1).value());
  wire::PositionBuilder position{builder};
  position.add_kind(wire::PositionKind::earliest);
  const auto at = position.Finish();
  wire::RequestBuilder request{builder};
  request.add_id(id);
  request.add_topics(topics);
  request.add_position(at);
  const auto body = request.Finish();
  wire::FinishEnvelopeBuffer(builder,
                             wire::CreateEnvelope(builder, wire::Body::Request, body.Union()));
  const std::string bytes{reinterpret_cast<const char*>(builder.GetBufferPointer()),
                          builder.GetSize()};
  REQUIRE(bytes.size() < 1'000'000);
  CHECK_THAT(decode(request_key, bytes).error().detail, Catch::Contains("unfolds to more than"));
  CHECK_FALSE(is_readable(request_key, bytes));
}

TEST_CASE("a large request that is honest is read", "[hostile]") {
  auto request = request_of(1);
  request.topics.clear();
  for (int i = 0; i < 20'000; ++i) {
    request.topics.push_back({TopicName{"topic-" + std::to_string(i)}, {0, 1, 2}});
  }
  const auto bytes = encode(request);
  CAPTURE(bytes.size());
  const auto decoded = decode(request_key, bytes);
  REQUIRE(decoded);
  REQUIRE(decoded.value() == Record{request});
}

}  // namespace
}  // namespace flow::test
