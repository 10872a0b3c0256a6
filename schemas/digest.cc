#include <openssl/evp.h>

#include <array>

#include "schemas/codec.h"

namespace flow {
namespace {

// Canonical text of a request's content. Lengths stand before texts, so no two contents share one;
// a field that is absent writes nothing, so a later version's new field leaves older requests'
// digests as they are.
class Canonical {
 public:
  void field(const char* name, std::string_view value) {
    if (!value.empty()) {
      element(name, value);
    }
  }
  // One of a list: also an empty one counts, a list of one empty text is not an empty list.
  void element(const char* name, std::string_view value) {
    text_ += name;
    text_ += ':';
    text_ += std::to_string(value.size());
    text_ += ':';
    text_ += value;
    text_ += '\n';
  }
  void field(const char* name, std::optional<std::int64_t> value) {
    if (value) {
      field(name, std::to_string(*value));
    }
  }
  void flag(const char* name, bool value) {
    if (value) {
      field(name, "true");
    }
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string sha256_hex(const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  const int hashed =
      EVP_Digest(text.data(), text.size(), bytes.data(), &size, EVP_sha256(), nullptr);
  FLOW_ASSERT(hashed == 1, "SHA-256 is missing in OpenSSL");
  constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += digits[bytes[i] >> 4];
    hex += digits[bytes[i] & 0xf];
  }
  return hex;
}

void add_position(Canonical& canonical, const Position& position) {
  canonical.field("position.kind", static_cast<std::int64_t>(position.kind));
  canonical.field("position.offset", position.offset);
  if (position.instant) {
    canonical.field("position.instant", position.instant->value());
  }
  canonical.field("position.shift", position.shift);
  canonical.field("position.group", position.group);
  canonical.field("position.savepoint", position.savepoint);
  for (const auto& entry : position.partitions) {
    canonical.element("position.topic", entry.at.topic.value());
    canonical.field("position.partition", entry.at.partition);
    canonical.field("position.partition.offset", entry.offset);
    canonical.field("position.metadata", entry.metadata);
  }
}

}  // namespace

std::string content_digest(const Request& request) {
  Canonical canonical;
  canonical.field("id", request.id.value());
  canonical.field("namespace", request.namespace_name);
  canonical.field("pipeline", request.pipeline);
  for (const auto& streamlet : request.streamlets) {
    canonical.element("streamlet", streamlet);
  }
  for (const auto& group : request.groups) {
    canonical.element("group", group.value());
  }
  for (const auto& topic : request.topics) {
    canonical.element("topic", topic.name.value());
    for (const auto partition : topic.partitions) {
      canonical.field("partition", partition);
    }
  }
  add_position(canonical, request.position);
  canonical.flag("hold", request.options.hold);
  canonical.flag("atomic", request.options.atomic);
  canonical.flag("create_group", request.options.create_group);
  canonical.flag("clamp", request.options.clamp);
  canonical.flag("force", request.options.force);
  return sha256_hex(canonical.text());
}

}  // namespace flow
