#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "schemas/error.h"
#include "schemas/keys.h"
#include "schemas/records.h"

namespace flow {

// A record longer than this is never read (Kafka's own default limit of a record is 1 MiB).
inline constexpr std::size_t record_bytes_max = 2 * 1024 * 1024;

// Takes a record; returns its FlatBuffers bytes. The same record gives the same bytes.
// Texts of others (a client id, Kafka's words) need not be UTF-8; what is not becomes U+FFFD, so
// that whatever is written can be read.
std::string encode(const Record& record);

// Takes a record's key and value as they stand on the topic, FlatBuffers or JSON text (first byte
// '{'). Returns the record, or Errc::invalid with the field that is wrong. Values are verified
// before they are read; a value that says other than its key (another id, another kind) is not
// readable. Errc::refused means that the record comes from a newer version: well formed, but of a
// kind, position or enum value that this version does not know. Anyone may call it with any bytes.
Result<Record> decode(const RecordKey& key, std::string_view value);

// Whether decode would return a record; copies nothing, so it costs a fraction.
bool is_readable(const RecordKey& key, std::string_view value);

// Whether a readable value under a `verified` key says that it is the last look; copies nothing.
bool is_last_look(const RecordKey& key, std::string_view value);

// Takes a record; returns it as JSON text of the schema's shape (one line), for people and tools.
std::string to_json(const Record& record);

// Takes a request; returns the SHA-256 (64 hexadecimal digits) of its content: all but who asked,
// when, through what, and the expiry. Two requests with one id and one digest are the same request.
std::string content_digest(const Request& request);

// Returns a random version 4 UUID. Not for pure code: it reads the system's random source.
std::string random_uuid();

}  // namespace flow
