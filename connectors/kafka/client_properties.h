#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/kafka/client.h"
#include "schemas/error.h"

// A Java client properties file, as people already have it, as librdkafka's settings.
namespace flow::kafka {

struct ClientProperties {
  ClientConfig config;
  std::vector<std::string>
      warnings;  // for people: "<file>:<line>: <key>: ..."; never a value that is secret
  std::vector<std::string>
      ignored;  // of no meaning here (serializers, retries ...), in the same form
};

// Returns a file's first bytes (all of them where it is small), or why it cannot be read, with its
// name.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;

// Takes the text of a properties file. Errc::invalid: what matters and cannot be translated, or has
// a wrong value, as "<file>:<line>: <key>: <why, and the way out>"; no message holds a password.
// librdkafka's own names are taken as they are. `read_file` tells a PEM file from a Java store.
// Pure but for that.
Result<ClientProperties> translate_properties(std::string_view text, const std::string& file,
                                              const ReadFile& read_file);

// Reads and translates a file. Errc::invalid also where it cannot be read.
Result<ClientProperties> load_properties(const std::string& file);

}  // namespace flow::kafka
