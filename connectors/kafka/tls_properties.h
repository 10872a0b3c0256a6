#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "connectors/kafka/client_properties.h"

namespace flow::kafka {

struct PropertyProblem {
  std::string key;
  std::string why;
};

// The ssl.* properties of a Java client, which only make sense together: PEM files and texts are
// translated, a PKCS#12 key store is taken by librdkafka itself, a JKS store cannot be read.
class TlsProperties {
 public:
  explicit TlsProperties(ReadFile read_file) : read_file_(std::move(read_file)) {}

  static bool owns(const std::string& key);

  void add(const std::string& key, const std::string& value);

  // Hands each setting to `set` (the file's key, librdkafka's name, the value); returns what is
  // wrong.
  using Set =
      std::function<Result<void>(const std::string&, const std::string&, const std::string&)>;
  std::optional<PropertyProblem> translate(const Set& set);

  const std::vector<PropertyProblem>& warnings() const { return warnings_; }

 private:
  std::string value(const std::string& key) const;
  std::optional<PropertyProblem> translate_trust(const Set& set);
  std::optional<PropertyProblem> translate_key(const Set& set);
  std::optional<PropertyProblem> translate_key_texts(const Set& set);
  std::optional<PropertyProblem> translate_rest(const Set& set);

  ReadFile read_file_;
  std::map<std::string, std::string> values_;
  std::vector<PropertyProblem> warnings_;
};

}  // namespace flow::kafka
