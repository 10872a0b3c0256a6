// libFuzzer: any bytes as the key and value of a record. What decodes must mean the same in both
// forms, and apply must take whatever comes.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "schemas/codec.h"
#include "schemas/keys.h"
#include "store/facts.h"
#include "store/phase.h"

namespace flow::fuzz {
namespace {

// Not assert: a release build has to check, too.
void require(bool holds, const char* claim) {
  if (!holds) {
    std::fprintf(stderr, "broken: %s\n", claim);
    std::abort();
  }
}

void check_record(const RecordKey& key, const Record& record) {
  require(key_of(record) == key, "a record that decodes stands under its own key");
  const auto bytes = encode(record);
  const auto again = decode(key, bytes);
  require(again && again.value() == record, "what decodes is the same after encode and decode");
  require(encode(again.value()) == bytes, "the same record gives the same bytes");
  const auto text = decode(key, to_json(record));
  require(text && text.value() == record, "JSON says what FlatBuffers say");
  if (const auto* const request = std::get_if<Request>(&record)) {
    require(content_digest(*request) == content_digest(std::get<Request>(again.value())),
            "the same request has the same digest");
  }
}

void check_apply(const RecordKey& key, std::string_view key_bytes, std::string_view value,
                 bool is_readable) {
  store::RequestFacts facts;
  facts.id = key.id;
  const LogRecord record{LogPosition{7}, Instant{1'000}, key_bytes, value};
  const auto applied = store::apply(facts, key, record);
  require(applied.readable == is_readable, "apply reads what decode reads");
  require(applied.readable == applied.problem.empty(), "what cannot be read has a reason");
  const auto once = facts;
  store::apply(facts, key, record);
  require(facts == once, "applying a record twice changes nothing");
  const auto phase = store::phase_of(facts);
  require((phase == store::Phase::damaged) == !store::damage_of(facts).empty(),
          "what is damaged says why");
  static_cast<void>(store::is_unverified(facts));
  static_cast<void>(store::asked_at(facts));
  store::apply(facts, key, {LogPosition{8}, Instant{2'000}, key_bytes, std::nullopt});
  static_cast<void>(store::phase_of(facts));
}

// The first line is the key, the rest is the value.
void check(std::string_view input) {
  const auto end = input.find('\n');
  const auto key_bytes = input.substr(0, end);
  const auto value = end == std::string_view::npos ? std::string_view{} : input.substr(end + 1);
  const auto key = decode_key(key_bytes);
  if (!key) {
    return;
  }
  require(encode_key(*key) == key_bytes, "a key that decodes encodes to its bytes");
  const auto record = decode(*key, value);
  require(is_readable(*key, value) == bool{record}, "is_readable says what decode does");
  if (record) {
    check_record(*key, record.value());
  } else {
    require(!record.error().detail.empty(), "what cannot be read has a reason");
  }
  if (!key->id.value().empty()) {
    check_apply(*key, key_bytes, value, bool{record});
  }
}

}  // namespace
}  // namespace flow::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  flow::fuzz::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
