#include "store/rows.h"

#include <sstream>

namespace flow::store {
namespace {

constexpr std::size_t header_bytes = 17;
constexpr char with_value = 'v';
constexpr char erased = 't';

void put_number(char* out, std::int64_t number) {
  const auto bits = static_cast<std::uint64_t>(number);
  for (int shift = 56; shift >= 0; shift -= 8) {
    *out++ = static_cast<char>((bits >> shift) & 0xff);
  }
}

std::int64_t take_number(std::string_view& in) {
  std::uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) {
    bits = (bits << 8) | static_cast<unsigned char>(in[static_cast<std::size_t>(i)]);
  }
  in.remove_prefix(8);
  return static_cast<std::int64_t>(bits);
}

constexpr int meta_version = 1;

}  // namespace

std::array<char, header_bytes> row_header(const LogRecord& record) {
  std::array<char, header_bytes> header{};
  header[0] = record.value ? with_value : erased;
  put_number(&header[1], record.position.value());
  put_number(&header[9], record.timestamp.value());
  return header;
}

std::optional<LogRecord> decode_row(std::string_view key, std::string_view row) {
  if (row.size() < header_bytes || (row.front() != with_value && row.front() != erased)) {
    return std::nullopt;
  }
  LogRecord record;
  const bool has_value = row.front() == with_value;
  row.remove_prefix(1);
  record.position = LogPosition{take_number(row)};
  record.timestamp = Instant{take_number(row)};
  record.key = key;
  if (has_value) {
    record.value = row;
  }
  return record;
}

std::string encode_meta(const Meta& meta) {
  std::ostringstream out;
  out << meta_version << ' ' << meta.next << ' ' << meta.birth_position << ' ' << meta.bad_records
      << ' ' << meta.current_at << ' ' << (meta.half_built ? 1 : 0) << ' ' << meta.birth_id;
  return out.str();
}

std::optional<Meta> decode_meta(std::string_view row) {
  std::istringstream in{std::string{row}};
  Meta meta;
  int version = 0;
  in >> version >> meta.next >> meta.birth_position >> meta.bad_records >> meta.current_at >>
      meta.half_built;
  if (!in || version != meta_version) {
    return std::nullopt;
  }
  in >> meta.birth_id;
  return meta;
}

}  // namespace flow::store
