#include "connectors/kafka/connection_failure.h"

#include <librdkafka/rdkafka.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>

namespace flow::kafka {
namespace {

constexpr std::string_view hang_up = "Disconnected";
// librdkafka before this one sends a client nonce that Kafka 4 no longer takes (librdkafka#4895).
constexpr int scram_is_right_since = 0x020601ff;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string setting(const ClientConfig& config, const char* name) {
  const auto found = config.settings.find(name);
  return found == config.settings.end() ? std::string{} : found->second;
}

// Without the broker in front and the state behind; lower case unless it starts with an acronym.
std::string shortened(std::string_view text) {
  const auto colon = text.find(": ");
  if (colon != std::string_view::npos && !contains(text.substr(0, colon), " ")) {
    text.remove_prefix(colon + 2);
  }
  text = text.substr(0, text.find(" (after "));
  std::string words{text};
  std::replace(words.begin(), words.end(), '\n', ' ');
  const bool is_acronym =
      words.size() > 1 && std::isupper(static_cast<unsigned char>(words[1])) != 0;
  if (!words.empty() && !is_acronym) {
    words.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(words.front())));
  }
  return words;
}

// A listener that expects another protocol says nothing, it ends the connection; so does a broker
// that is about to stop, which is why this is no reason to give up.
std::string wrong_listener(const Greeting& greeting) {
  return "the broker ends the connection at once; security.protocol is " +
         (greeting.protocol.empty() ? "plaintext" : greeting.protocol) +
         " here, and this listener may want another one";
}

// The broker's verdict on a certificate comes when the handshake is over for us, so in TLS 1.3 the
// connection is in some later state by then.
bool is_about_our_certificate(std::string_view text) {
  return contains(text, "SSL alert number") &&
         (contains(text, "certificate") || contains(text, "unknown ca"));
}

std::string refused_login(std::string text, const Greeting& greeting) {
  if (greeting.mechanism.starts_with("SCRAM-") && contains(text, "invalid credentials") &&
      rd_kafka_version() < scram_is_right_since) {
    text +=
        std::string{
            "; user or password are wrong, or the broker is Kafka 4.0 or newer, to "
            "which librdkafka "} +
        rd_kafka_version_str() +
        " cannot log in by SCRAM: use PLAIN over SASL_SSL there, or run flow with librdkafka "
        "2.6.1 or newer";
  }
  return text;
}

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Names = std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)>;

std::string one_line(const X509_NAME* name) {
  std::array<char, 256> text{};
  X509_NAME_oneline(name, text.data(), static_cast<int>(text.size()));
  return text.data();
}

// The DNS names that a certificate is for, or its subject where it names none.
std::string names_of(const X509* certificate) {
  const Names names{static_cast<GENERAL_NAMES*>(
                        X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
                    &GENERAL_NAMES_free};
  std::string text;
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const auto* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) {
      const auto* const bytes =
          reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName));
      text += (text.empty() ? "'" : ", '") +
              std::string{bytes, static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName))} +
              "'";
    }
  }
  return text.empty() ? "'" + one_line(X509_get_subject_name(certificate)) + "'" : text;
}

}  // namespace

Greeting greeting_of(const ClientConfig& config) {
  Greeting greeting{setting(config, "security.protocol"), setting(config, "sasl.mechanism")};
  if (greeting.mechanism.empty()) {
    greeting.mechanism = setting(config, "sasl.mechanisms");
  }
  return greeting;
}

bool tells_of_a_hang_up(std::string_view logged) { return contains(logged, hang_up); }

std::optional<ConnectionFailure> read_failure(std::string_view logged, const Greeting& greeting,
                                              const std::string& certificate_problem) {
  if (tells_of_a_hang_up(logged)) {
    if (contains(logged, "security.protocol")) {
      return ConnectionFailure{wrong_listener(greeting), false};
    }
    return std::nullopt;
  }
  ConnectionFailure failure{shortened(logged), false};
  const bool was_greeting =
      contains(logged, "in state AUTH") || contains(logged, "in state SSL_HANDSHAKE");
  failure.was_turned_away = was_greeting && !contains(logged, "timed out");
  if (is_about_our_certificate(logged)) {
    failure.was_turned_away = true;
    failure.text =
        "the broker wants a certificate of this client and " +
        std::string{contains(logged, "certificate required") ? "got none"
                                                             : "does not accept this one"} +
        "; ssl.keystore.location or ssl.keystore.key names it (" + failure.text + ")";
  } else if (contains(logged, "certificate verify failed") && !certificate_problem.empty()) {
    failure.text = certificate_problem;
  } else if (failure.was_turned_away) {
    failure.text = refused_login(std::move(failure.text), greeting);
  }
  return failure;
}

std::string certificate_problem(int reason, std::string_view broker, const char* der,
                                std::size_t size) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(der);
  const Certificate certificate{d2i_X509(nullptr, &bytes, static_cast<long>(size)), &X509_free};
  const std::string host{broker.substr(0, broker.rfind(':'))};
  const std::string what = "the certificate of '" + host + "' is not accepted: ";
  switch (reason) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return what + "it is for " + (certificate ? names_of(certificate.get()) : "another name") +
             "; call the broker by that name, or set ssl.endpoint.identification.algorithm= "
             "(empty) to leave names unchecked";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return what + "its issuer" +
             (certificate ? " '" + one_line(X509_get_issuer_name(certificate.get())) + "'" : "") +
             " is not trusted here; name the issuer's certificate (PEM) with "
             "ssl.truststore.location";
    default:
      return what + X509_verify_cert_error_string(reason);
  }
}

}  // namespace flow::kafka
