#include "schemas/codec.h"

#include <flatbuffers/idl.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "schemas/control_schema_text.h"
#include "schemas/json_check.h"
#include "schemas/utf8.h"
#include "schemas/wire.h"

namespace flow {
namespace {

// FlatBuffers' JSON parser with our schema; parsing the schema costs 0.3 ms, so one is kept a
// thread.
flatbuffers::Parser& json_parser() {
  static thread_local std::unique_ptr<flatbuffers::Parser> parser = [] {
    flatbuffers::IDLOptions options;
    options.strict_json = true;
    options.skip_unexpected_fields_in_json = false;
    options.output_default_scalars_in_json = false;
    options.indent_step = -1;
    auto made = std::make_unique<flatbuffers::Parser>(options);
    const bool parsed = made->Parse(wire::control_schema_text);
    FLOW_ASSERT(parsed, made->error_);
    return made;
  }();
  return *parser;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

bool is_json(std::string_view value) { return trimmed(value).starts_with('{'); }

// What is told of a wrong record ends in records of ours and in logs, so it is short and one line.
constexpr std::size_t detail_bytes_max = 300;

Result<Record> decode_json(const RecordKey& key, std::string_view value) {
  if (value.find('\0') != std::string_view::npos) {
    return error(Errc::invalid, "json: a NUL byte in the text");
  }
  auto& parser = json_parser();
  if (auto problem = wire::json_problem(parser, value)) {
    return error(Errc::invalid, "json: " + to_line(*problem, detail_bytes_max));
  }
  const std::string text{value};
  if (!parser.ParseJson(text.c_str())) {
    return error(Errc::invalid, "json: " + to_line(parser.error_, detail_bytes_max));
  }
  return wire::from_wire(*wire::GetEnvelope(parser.builder_.GetBufferPointer()), key);
}

// FlatBuffers reads numbers where they stand, so the bytes must begin where an 8-byte number may.
// Values come from the middle of other buffers; those that begin elsewhere are copied to where the
// next call copies too.
const std::uint8_t* aligned(std::string_view value) {
  if (reinterpret_cast<std::uintptr_t>(value.data()) % alignof(std::uint64_t) == 0) {
    return reinterpret_cast<const std::uint8_t*>(value.data());
  }
  static thread_local std::vector<std::uint64_t> copy;
  copy.resize((value.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
  std::memcpy(copy.data(), value.data(), value.size());
  return reinterpret_cast<const std::uint8_t*>(copy.data());
}

const wire::Envelope* verified_envelope(std::string_view value) {
  const auto* bytes = aligned(value);
  flatbuffers::Verifier verifier{bytes, value.size()};
  return wire::VerifyEnvelopeBuffer(verifier) ? wire::GetEnvelope(bytes) : nullptr;
}

}  // namespace

std::string encode(const Record& record) {
  flatbuffers::FlatBufferBuilder builder{512};
  const auto envelope = wire::to_wire(record);
  wire::FinishEnvelopeBuffer(builder, wire::Envelope::Pack(builder, &envelope));
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

Result<Record> decode(const RecordKey& key, std::string_view value) {
  if (value.empty()) {
    return error(Errc::invalid, "the value is empty");
  }
  if (value.size() > record_bytes_max) {
    return error(Errc::invalid, "the value has " + std::to_string(value.size()) +
                                    " bytes, more than " + std::to_string(record_bytes_max));
  }
  if (is_json(value)) {
    return decode_json(key, value);
  }
  const auto* envelope = verified_envelope(value);
  if (envelope == nullptr) {
    return error(Errc::invalid, "the value is neither a FLOW FlatBuffers record nor JSON text");
  }
  return wire::from_wire(*envelope, key);
}

bool is_readable(const RecordKey& key, std::string_view value) {
  if (value.empty() || value.size() > record_bytes_max) {
    return false;
  }
  if (is_json(value)) {
    return decode(key, value).has_value();
  }
  const auto* envelope = verified_envelope(value);
  return envelope != nullptr && wire::can_read(*envelope, key);
}

bool is_last_look(const RecordKey& key, std::string_view value) {
  if (is_json(value)) {
    const auto record = decode(key, value);
    return record && std::get<Verified>(record.value()).last;
  }
  const auto* envelope = verified_envelope(value);
  return envelope != nullptr && envelope->body_as_Verified() != nullptr &&
         envelope->body_as_Verified()->last();
}

std::string to_json(const Record& record) {
  const std::string bytes = encode(record);
  std::string text;
  const bool written = flatbuffers::GenerateText(json_parser(), bytes.data(), &text);
  FLOW_ASSERT(written, "a record of our own has no JSON text");
  std::replace(text.begin(), text.end(), '\n', ' ');
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace flow
