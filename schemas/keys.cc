#include "schemas/keys.h"

#include <array>
#include <charconv>
#include <string>
#include <utility>

namespace flow {
namespace {

constexpr std::array<std::pair<Kind, std::string_view>, 13> kind_names{{
    {Kind::request, "request"},
    {Kind::cancel, "cancel"},
    {Kind::guard, "guard"},
    {Kind::intent, "intent"},
    {Kind::result, "result"},
    {Kind::done, "done"},
    {Kind::verified, "verified"},
    {Kind::engine, "engine"},
    {Kind::log, "log"},
    {Kind::annotations, "annotations"},
    {Kind::savepoint, "savepoint"},
    {Kind::step, "step"},
    {Kind::schedule, "schedule"},
}};

std::optional<Kind> kind_of(std::string_view name) {
  for (const auto& [kind, text] : kind_names) {
    if (text == name) {
      return kind;
    }
  }
  return std::nullopt;
}

enum class Shape : std::uint8_t { alone, id, id_name, id_optional_name, id_number, id_name_number };

Shape shape_of(Kind kind) {
  switch (kind) {
    case Kind::request:
    case Kind::cancel:
    case Kind::guard:
      return Shape::id;
    case Kind::intent:
      return Shape::id_optional_name;
    case Kind::verified:
    case Kind::step:
      return Shape::id_name;
    case Kind::done:
      return Shape::id_number;
    case Kind::result:
      return Shape::id_name_number;
    case Kind::engine:
    case Kind::log:
    case Kind::annotations:
    case Kind::savepoint:
    case Kind::schedule:
      return Shape::alone;
  }
  return Shape::alone;
}

// A number is canonical where it is what encode_key writes: no sign (not even "-0"), no zero in
// front.
std::optional<LeaderNumber> parse_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || number < 0 || text != std::to_string(number)) {
    return std::nullopt;
  }
  return LeaderNumber{number};
}

// `rest` is what follows the kind, without its slash; nothing where the key ends with the kind.
std::optional<RecordKey> decode_rest(RecordKey key, std::optional<std::string_view> rest) {
  switch (shape_of(key.kind)) {
    case Shape::alone:
      return std::nullopt;
    case Shape::id:
      return rest ? std::nullopt : std::optional{std::move(key)};
    case Shape::id_optional_name:
      if (rest) {
        key.name = *rest;
      }
      return rest && rest->empty() ? std::nullopt : std::optional{std::move(key)};
    case Shape::id_name:
      if (!rest || rest->empty()) {
        return std::nullopt;
      }
      key.name = *rest;
      return key;
    case Shape::id_number:
      key.leader = rest ? parse_number(*rest) : std::nullopt;
      return key.leader ? std::optional{std::move(key)} : std::nullopt;
    case Shape::id_name_number: {
      const auto slash = rest ? rest->rfind('/') : std::string_view::npos;
      if (slash == std::string_view::npos || slash == 0) {
        return std::nullopt;
      }
      key.name = rest->substr(0, slash);
      key.leader = parse_number(rest->substr(slash + 1));
      return key.leader ? std::optional{std::move(key)} : std::nullopt;
    }
  }
  return std::nullopt;
}

struct KeyOf {
  RecordKey operator()(const Request& r) const { return {Kind::request, r.id, {}, {}}; }
  RecordKey operator()(const Cancel& r) const { return {Kind::cancel, r.id, {}, {}}; }
  RecordKey operator()(const Guard& r) const { return {Kind::guard, r.id, {}, {}}; }
  RecordKey operator()(const Intent& r) const { return {Kind::intent, r.id, r.cluster, {}}; }
  RecordKey operator()(const GroupResult& r) const {
    return {Kind::result, r.id, r.group.value(), r.leader};
  }
  RecordKey operator()(const Done& r) const { return {Kind::done, r.id, {}, r.leader}; }
  RecordKey operator()(const Verified& r) const {
    return {Kind::verified, r.id, r.group.value(), {}};
  }
  RecordKey operator()(const EngineStarted&) const { return {Kind::engine, {}, {}, {}}; }
  RecordKey operator()(const LogBorn&) const { return {Kind::log, {}, {}, {}}; }
  RecordKey operator()(const AnnotationsSettled&) const { return {Kind::annotations, {}, {}, {}}; }
};

}  // namespace

std::string_view to_string(Kind kind) { return kind_names[static_cast<std::size_t>(kind)].second; }

std::string encode_key(const RecordKey& key) {
  if (shape_of(key.kind) == Shape::alone) {
    return std::string{to_string(key.kind)};
  }
  std::string bytes = key.id.value();
  bytes += '/';
  bytes += to_string(key.kind);
  if (!key.name.empty()) {
    bytes += '/';
    bytes += key.name;
  }
  if (key.leader) {
    bytes += '/';
    bytes += std::to_string(key.leader->value());
  }
  return bytes;
}

std::optional<RecordKey> decode_key(std::string_view bytes) {
  constexpr std::size_t id_length = 36;
  if (bytes.size() <= id_length || bytes[id_length] != '/') {
    const auto kind = kind_of(bytes);
    if (!kind || shape_of(*kind) != Shape::alone) {
      return std::nullopt;
    }
    return RecordKey{*kind, {}, {}, {}};
  }
  auto id = parse_request_id(bytes.substr(0, id_length));
  if (!id) {
    return std::nullopt;
  }
  bytes.remove_prefix(id_length + 1);
  const auto slash = bytes.find('/');
  const auto kind = kind_of(bytes.substr(0, slash));
  if (!kind) {
    return std::nullopt;
  }
  std::optional<std::string_view> rest;
  if (slash != std::string_view::npos) {
    rest = bytes.substr(slash + 1);
  }
  return decode_rest(RecordKey{*kind, std::move(*id), {}, {}}, rest);
}

RecordKey key_of(const Record& record) { return std::visit(KeyOf{}, record); }

}  // namespace flow
