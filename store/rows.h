#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schemas/ids.h"
#include "schemas/log_record.h"

// How rows are written: one letter for the table, then the key. A letter once given is never
// reused.
namespace flow::store {

inline constexpr char fact_table = 'F';  // F<control key>: position, timestamp, value as read
inline constexpr char log_table = 'G';   // G<kind>: the same for records of no request
inline constexpr char open_table = 'O';  // O<request id>: an engine has something left to do
inline constexpr char unverified_table =
    'V';                                   // V<request id>: closed, lacks a last verified record
inline constexpr char meta_table = 'M';    // M: position, birth, counters
inline constexpr char anchor_table = 'A';  // A<what>: the control key of the latest such record

inline std::string row_key(char table, std::string_view key) {
  std::string row(1, table);
  row += key;
  return row;
}

// What stands before the value in a record's row. A tombstone keeps a row, so that an erased done
// stays known.
std::array<char, 17> row_header(const LogRecord& record);

// Takes a row's key without its table's letter, and its bytes; the result's views point into both.
// Nothing where the bytes cannot have been written so.
std::optional<LogRecord> decode_row(std::string_view key, std::string_view row);

// What stands beside the rows.
struct Meta {
  std::int64_t next = 0;
  std::string birth_id;
  std::int64_t birth_position = -1;
  std::int64_t bad_records = 0;
  std::int64_t current_at = -1;
  bool half_built = false;
};

std::string encode_meta(const Meta& meta);
std::optional<Meta> decode_meta(std::string_view row);

}  // namespace flow::store
