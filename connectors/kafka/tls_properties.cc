#include "connectors/kafka/tls_properties.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace flow::kafka {
namespace {

// Those that librdkafka has under the same name with another meaning, or not at all.
constexpr std::array names{"ssl.truststore.type",
                           "ssl.truststore.location",
                           "ssl.truststore.password",
                           "ssl.truststore.certificates",
                           "ssl.keystore.type",
                           "ssl.keystore.location",
                           "ssl.keystore.password",
                           "ssl.keystore.key",
                           "ssl.keystore.certificate.chain",
                           "ssl.key.password",
                           "ssl.endpoint.identification.algorithm",
                           "ssl.cipher.suites",
                           "ssl.enabled.protocols",
                           "ssl.protocol",
                           "ssl.keymanager.algorithm",
                           "ssl.trustmanager.algorithm"};

enum class Form : std::uint8_t { pem, jks, pkcs12, other };

Form form_of(const std::string& bytes) {
  if (bytes.find("-----BEGIN ") != std::string::npos) {
    return Form::pem;
  }
  if (bytes.starts_with("\xfe\xed\xfe\xed") || bytes.starts_with("\xce\xce\xce\xce")) {
    return Form::jks;
  }
  return bytes.starts_with("\x30") ? Form::pkcs12 : Form::other;
}

std::string_view to_string(Form form) {
  switch (form) {
    case Form::pem:
      return "a PEM file";
    case Form::jks:
      return "a Java key store (JKS)";
    case Form::pkcs12:
      return "a PKCS#12 store";
    case Form::other:
      break;
  }
  return "neither a PEM file nor a Java store";
}

struct PemText {
  std::string text;
  int blocks = 0;
};

// Java takes a PEM text on one line, OpenSSL wants its lines: each block is written anew.
std::optional<PemText> rewrap(const std::string& text) {
  PemText out;
  std::size_t at = 0;
  while ((at = text.find("-----BEGIN ", at)) != std::string::npos) {
    const auto label_end = text.find("-----", at + 11);
    const std::string label =
        label_end == std::string::npos ? std::string{} : text.substr(at + 11, label_end - at - 11);
    const std::string foot = "-----END " + label + "-----";
    const auto body_end = label.empty() ? std::string::npos : text.find(foot, label_end);
    if (body_end == std::string::npos) {
      return std::nullopt;
    }
    std::string body = text.substr(label_end + 5, body_end - label_end - 5);
    std::erase_if(body, [](unsigned char c) { return std::isspace(c) != 0; });
    out.text += "-----BEGIN " + label + "-----\n";
    constexpr std::size_t width = 64;
    for (std::size_t i = 0; i < body.size(); i += width) {
      out.text += body.substr(i, width) + "\n";
    }
    out.text += foot + "\n";
    ++out.blocks;
    at = body_end + foot.size();
  }
  return out.blocks > 0 ? std::optional{out} : std::nullopt;
}

std::optional<PropertyProblem> problem_of(const std::string& key, const Result<void>& result) {
  // The detail is complete: "<file>:<line>: <key>: <why>"; the caller puts the place before it
  // again.
  if (result) {
    return std::nullopt;
  }
  const auto& detail = result.error().detail;
  const auto at = detail.find(key + ": ");
  return PropertyProblem{key,
                         at == std::string::npos ? detail : detail.substr(at + key.size() + 2)};
}

}  // namespace

bool TlsProperties::owns(const std::string& key) {
  return std::find(names.begin(), names.end(), key) != names.end();
}

void TlsProperties::add(const std::string& key, const std::string& value) { values_[key] = value; }

std::string TlsProperties::value(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::string{} : found->second;
}

std::optional<PropertyProblem> TlsProperties::translate(const Set& set) {
  if (auto problem = translate_trust(set)) {
    return problem;
  }
  if (auto problem = translate_key(set)) {
    return problem;
  }
  return translate_rest(set);
}

std::optional<PropertyProblem> TlsProperties::translate_trust(const Set& set) {
  const std::string texts = value("ssl.truststore.certificates");
  const std::string location = value("ssl.truststore.location");
  if (!texts.empty()) {
    const auto pem = rewrap(texts);
    if (!pem) {
      return PropertyProblem{"ssl.truststore.certificates", "holds no complete PEM certificate"};
    }
    return problem_of("ssl.truststore.certificates",
                      set("ssl.truststore.certificates", "ssl.ca.pem", pem->text));
  }
  if (location.empty()) {
    return std::nullopt;
  }
  const auto store = read_file_(location);
  if (!store) {
    return PropertyProblem{"ssl.truststore.location", store.error().detail};
  }
  const Form form = form_of(store.value());
  if (form == Form::other) {
    return PropertyProblem{"ssl.truststore.location", "'" + location + "' is " +
                                                          std::string{to_string(form)} +
                                                          "; name a file of certificates in PEM"};
  }
  if (form != Form::pem) {
    return PropertyProblem{
        "ssl.truststore.location",
        "'" + location + "' is " + std::string{to_string(form)} +
            ", which cannot be read here; write its certificates as PEM with: keytool -list -rfc "
            "-keystore '" +
            location +
            "' > ca.pem; then set ssl.truststore.type=PEM and "
            "ssl.truststore.location=ca.pem"};
  }
  return problem_of("ssl.truststore.location",
                    set("ssl.truststore.location", "ssl.ca.location", location));
}

std::optional<PropertyProblem> TlsProperties::translate_key_texts(const Set& set) {
  const auto key = rewrap(value("ssl.keystore.key"));
  if (!key) {
    return PropertyProblem{"ssl.keystore.key", "holds no complete PEM private key"};
  }
  const auto chain = rewrap(value("ssl.keystore.certificate.chain"));
  if (!chain) {
    return PropertyProblem{"ssl.keystore.certificate.chain",
                           "holds no complete PEM certificate, and ssl.keystore.key needs one"};
  }
  if (chain->blocks > 1) {
    // librdkafka 2.0 reads only the first certificate of a text, and a whole chain of a file.
    return PropertyProblem{
        "ssl.keystore.certificate.chain",
        "holds " + std::to_string(chain->blocks) +
            " certificates, of which only one could be used from a text; write key and chain "
            "into one PEM file and name it with ssl.keystore.location"};
  }
  if (auto problem =
          problem_of("ssl.keystore.key", set("ssl.keystore.key", "ssl.key.pem", key->text))) {
    return problem;
  }
  return problem_of("ssl.keystore.certificate.chain",
                    set("ssl.keystore.certificate.chain", "ssl.certificate.pem", chain->text));
}

std::optional<PropertyProblem> TlsProperties::translate_key(const Set& set) {
  const std::string location = value("ssl.keystore.location");
  if (const std::string password = value("ssl.key.password"); !password.empty()) {
    if (auto problem =
            problem_of("ssl.key.password", set("ssl.key.password", "ssl.key.password", password))) {
      return problem;
    }
  }
  if (!value("ssl.keystore.key").empty() || !value("ssl.keystore.certificate.chain").empty()) {
    return translate_key_texts(set);
  }
  if (location.empty()) {
    return std::nullopt;
  }
  const auto store = read_file_(location);
  if (!store) {
    return PropertyProblem{"ssl.keystore.location", store.error().detail};
  }
  const Form form = form_of(store.value());
  switch (form) {
    case Form::pem: {
      auto problem = problem_of("ssl.keystore.location",
                                set("ssl.keystore.location", "ssl.key.location", location));
      return problem
                 ? problem
                 : problem_of("ssl.keystore.location",
                              set("ssl.keystore.location", "ssl.certificate.location", location));
    }
    case Form::pkcs12: {
      auto problem = problem_of("ssl.keystore.location",
                                set("ssl.keystore.location", "ssl.keystore.location", location));
      return problem ? problem
                     : problem_of("ssl.keystore.password",
                                  set("ssl.keystore.password", "ssl.keystore.password",
                                      value("ssl.keystore.password")));
    }
    case Form::other:
      return PropertyProblem{"ssl.keystore.location",
                             "'" + location + "' is " + std::string{to_string(form)} +
                                 "; name a file with key and certificates in PEM"};
    case Form::jks:
      break;
  }
  return PropertyProblem{
      "ssl.keystore.location",
      "'" + location + "' is " + std::string{to_string(form)} +
          ", which cannot be read here; make it PKCS#12 with: keytool "
          "-importkeystore -srckeystore '" +
          location +
          "' -destkeystore client.p12 -deststoretype PKCS12; "
          "then set ssl.keystore.type=PKCS12 and ssl.keystore.location=client.p12"};
}

std::optional<PropertyProblem> TlsProperties::translate_rest(const Set& set) {
  if (values_.contains("ssl.endpoint.identification.algorithm")) {
    const std::string key = "ssl.endpoint.identification.algorithm";
    std::string algorithm = value(key);
    std::transform(algorithm.begin(), algorithm.end(), algorithm.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    // An empty value is how a Java client says that the broker's name is not checked.
    if (auto problem = problem_of(key, set(key, key, algorithm.empty() ? "none" : algorithm))) {
      return problem;
    }
  }
  if (const std::string suites = value("ssl.cipher.suites"); !suites.empty()) {
    if (suites.find("TLS_") != std::string::npos) {
      return PropertyProblem{
          "ssl.cipher.suites",
          "Java's names of cipher suites cannot be used here; write OpenSSL's, which "
          "'openssl ciphers -stdname' lists beside them"};
    }
    if (auto problem = problem_of("ssl.cipher.suites",
                                  set("ssl.cipher.suites", "ssl.cipher.suites", suites))) {
      return problem;
    }
  }
  for (const char* key : {"ssl.enabled.protocols", "ssl.protocol"}) {
    if (!value(key).empty()) {
      warnings_.push_back({key, "is left to OpenSSL (its MinProtocol in openssl.cnf); ignored"});
    }
  }
  return std::nullopt;
}

}  // namespace flow::kafka
