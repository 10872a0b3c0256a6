#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schemas/codec.h"
#include "schemas/utf8.h"

// Used by schemas/wire_read.cc alone.
namespace flow::wire {

// Whether what is read is wanted, or only whether it can be read; the second copies nothing.
enum class Mode : std::uint8_t { copy, check };

// Reads a verified table field by field and remembers the first thing that is wrong.
class Reader {
 public:
  Reader(Mode mode, const RecordKey& key) : mode_(mode), key_(key) {}

  std::optional<Error> problem;

  std::string text(const flatbuffers::String* in, const char* field) {
    const std::string_view out = view(in);
    if (!spend(out.size())) {
      return {};
    }
    if (!out.empty() && std::memchr(out.data(), 0, out.size()) != nullptr) {
      fail(Errc::invalid, std::string{field} + ": a NUL byte in the text");
    } else if (!is_utf8(out)) {
      fail(Errc::invalid, std::string{field} + ": is not UTF-8");
    }
    return mode_ == Mode::copy ? std::string{out} : std::string{};
  }

  // An enum value beyond those known: from a newer version, never executed.
  template <typename Out, typename In>
  Out choice(In in, In greatest, const char* field) {
    if (in > greatest) {
      fail(Errc::refused, std::string{field} + ": the value " +
                              std::to_string(static_cast<int>(in)) +
                              " is of a newer version of flow");
      return Out{};
    }
    return static_cast<Out>(in);
  }

  template <typename T>
  T required(const flatbuffers::Optional<T>& in, const char* field) {
    if (!in) {
      fail(Errc::invalid, std::string{field} + ": is missing");
      return T{};
    }
    return *in;
  }

  RequestId id(const flatbuffers::String* in, const char* field) {
    if (mode_ == Mode::check && view(in) == key_.id.value()) {
      return {};
    }
    auto id = parse_request_id(view(in));
    if (!id) {
      fail(Errc::invalid, std::string{field} + ": '" + to_line(view(in), shown_max) +
                              "' is not a UUID in lower case");
      return RequestId{};
    }
    return *std::move(id);
  }

  // What names the record in its value must be what its key names.
  void own_id(const flatbuffers::String* in) {
    if (view(in) != key_.id.value()) {
      id(in, "id");
      fail(Errc::invalid,
           "id: '" + to_line(view(in), shown_max) + "' is not the id that the key names");
    }
  }
  void own_name(const flatbuffers::String* in, const char* field) {
    if (view(in) != key_.name) {
      fail(Errc::invalid, std::string{field} + ": '" + to_line(view(in), shown_max) +
                              "' is not the one that the key names");
    }
  }
  void own_leader(std::int64_t in) {
    if (key_.leader != LeaderNumber{in}) {
      fail(Errc::invalid,
           "leader: " + std::to_string(in) + " is not the number that the key names");
    }
  }

  template <typename Table, typename Read>
  auto each(const flatbuffers::Vector<flatbuffers::Offset<Table>>* in, Read read_one) {
    using Element = decltype(read_one(*this, *in->Get(0)));
    std::vector<Element> out;
    if (in == nullptr || !spend(in->size() * sizeof(Element))) {
      return out;
    }
    if (mode_ == Mode::copy) {
      out.reserve(in->size());
    }
    for (const auto* element : *in) {
      auto read = read_one(*this, *element);
      if (mode_ == Mode::copy) {
        out.push_back(std::move(read));
      }
    }
    return out;
  }

  std::vector<std::int32_t> numbers(const flatbuffers::Vector<std::int32_t>* in) {
    if (in == nullptr || !spend(in->size() * sizeof(std::int32_t)) || mode_ == Mode::check) {
      return {};
    }
    return {in->begin(), in->end()};
  }

  void fail(Errc errc, std::string detail) {
    if (!problem) {
      problem = Error{errc, std::move(detail)};
    }
  }

 private:
  static std::string_view view(const flatbuffers::String* in) {
    return in == nullptr ? std::string_view{} : std::string_view{in->data(), in->size()};
  }

  // FlatBuffers may name one text or list from many places, so that a small value could unfold to
  // any size.
  bool spend(std::size_t bytes) {
    spent_ += bytes;
    if (spent_ > unfolded_bytes_max) {
      fail(Errc::invalid,
           "the value unfolds to more than " + std::to_string(unfolded_bytes_max) + " bytes");
    }
    return spent_ <= unfolded_bytes_max;
  }

  static constexpr std::size_t unfolded_bytes_max = 8 * record_bytes_max;
  static constexpr std::size_t shown_max = 64;

  Mode mode_;
  const RecordKey& key_;
  std::size_t spent_ = 0;
};

}  // namespace flow::wire
