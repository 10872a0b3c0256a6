#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace flatbuffers {
class Parser;
}  // namespace flatbuffers

namespace flow::wire {

// Takes a parser that has read the schema, and a record as JSON text. Returns what is wrong with
// the text, with the field's path; nothing where its shape is the schema's.
//
// FlatBuffers' own JSON parser is too kind for a contract: it takes "latest offset" for the enum
// value 1 | 2, numbers in quotes, hexadecimal, comments and single quotes. Whoever mistypes must be
// told, so the text is held against RFC 8259 and the schema first. Ranges of numbers, repeated
// fields and required ones are left to FlatBuffers, which is strict there.
std::optional<std::string> json_problem(const flatbuffers::Parser& schema, std::string_view text);

}  // namespace flow::wire
