#include "connectors/kafka/connection_failure.h"

#include <openssl/x509_vfy.h>

#include <catch2/catch.hpp>

#include "connectors/kafka/connection.h"

namespace flow::kafka {
namespace {

const std::string refused_scram =
    "sasl_ssl://h:9092/bootstrap: SASL authentication error: Authentication failed during "
    "authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256 (after 300ms in "
    "state AUTH_REQ)";

}  // namespace

TEST_CASE("a failed connection is told in words, and whether waiting helps") {
  struct Case {
    std::string logged;
    Greeting greeting;
    std::string text;
    bool was_turned_away;
  };
  const auto c = GENERATE_COPY(values<Case>({
      {"h:9092/bootstrap: Connect to ipv4#h:9092 failed: Connection refused (after 0ms in state "
       "CONNECT)",
       {},
       "connect to ipv4#h:9092 failed: Connection refused",
       false},
      {"sasl_ssl://h:9092/bootstrap: SASL authentication error: Authentication failed: Invalid "
       "username or password (after 300ms in state AUTH_REQ)",
       {"sasl_ssl", "PLAIN"},
       "SASL authentication error: Authentication failed: Invalid username or password",
       true},
      {"ssl://h:9092/bootstrap: error:0A000086:SSL routines::certificate verify failed (after 5ms "
       "in state SSL_HANDSHAKE)",
       {"ssl", ""},
       "the certificate's reason",
       true},
      {"ssl://h:9092/bootstrap: SSL handshake timed out (after 10000ms in state SSL_HANDSHAKE)",
       {"ssl", ""},
       "SSL handshake timed out",
       false},
      {"sasl_ssl://h:9092/bootstrap: Receive failed: error:0A000416:SSL routines::sslv3 alert "
       "certificate unknown: SSL alert number 46 (after 7ms in state APIVERSION_QUERY)",
       {"sasl_ssl", "PLAIN"},
       "the broker wants a certificate of this client and does not accept this one; "
       "ssl.keystore.location or ssl.keystore.key names it (receive failed: error:0A000416:SSL "
       "routines::sslv3 alert certificate unknown: SSL alert number 46)",
       true},
      {"ssl://h:9092/bootstrap: Receive failed: error:0A00045C:SSL routines::tlsv13 alert "
       "certificate required: SSL alert number 116 (after 7ms in state APIVERSION_QUERY)",
       {"ssl", ""},
       "the broker wants a certificate of this client and got none; "
       "ssl.keystore.location or ssl.keystore.key names it (receive failed: error:0A00045C:SSL "
       "routines::tlsv13 alert certificate required: SSL alert number 116)",
       true},
      {"h:9092/bootstrap: Disconnected while requesting ApiVersion: might be caused by incorrect "
       "security.protocol configuration (connecting to a SSL listener?) or broker version is < "
       "0.10 (see api.version.request) (after 2ms in state APIVERSION_QUERY)",
       {},
       "the broker ends the connection at once; security.protocol is plaintext here, and this "
       "listener may want another one",
       false},
  }));
  CAPTURE(c.logged);
  const auto failure = read_failure(c.logged, c.greeting, "the certificate's reason");
  REQUIRE(failure);
  CHECK(failure->text == c.text);
  CHECK(failure->was_turned_away == c.was_turned_away);
}

TEST_CASE("SCRAM that fails says that it may be the client's fault") {
  const auto failure = read_failure(refused_scram, {"sasl_ssl", "SCRAM-SHA-256"}, "");
  REQUIRE(failure);
  const bool is_at_fault = rd_kafka_version() < 0x020601ff;
  CHECK((failure->text.find("cannot log in by SCRAM") != std::string::npos) == is_at_fault);
}

TEST_CASE("the end of an established connection is no failure") {
  CHECK_FALSE(read_failure("h:9092/1: Disconnected (after 30000ms in state UP)", {}, ""));
}

TEST_CASE("why a certificate is not accepted, though it cannot be read itself") {
  const auto [reason, words] = GENERATE(table<int, const char*>({
      {X509_V_ERR_HOSTNAME_MISMATCH, "call the broker by that name"},
      {X509_V_ERR_IP_ADDRESS_MISMATCH, "call the broker by that name"},
      {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, "ssl.truststore.location"},
      {X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, "ssl.truststore.location"},
      {X509_V_ERR_CERT_HAS_EXPIRED, "expired"},
  }));
  const auto text = certificate_problem(reason, "h:9092", "rubbish", 7);
  CHECK_THAT(text, Catch::StartsWith("the certificate of 'h' is not accepted: "));
  CHECK_THAT(text, Catch::Contains(words));
}

TEST_CASE("settings that no client can be made of are an error, and nothing worse") {
  const ClientConfig wrong{{{"bootstrap.servers", "127.0.0.1:1"},
                            {"security.protocol", "ssl"},
                            {"ssl.ca.location", "/no/such/file"}}};
  for (int i = 0; i < 3; ++i) {
    const auto made = Connection::open(RD_KAFKA_PRODUCER, wrong, "test", {});
    REQUIRE_FALSE(made);
    CHECK(made.error().errc == Errc::invalid);
    CHECK_THAT(made.error().detail, Catch::StartsWith("client settings: ssl.ca.location failed"));
  }
}

}  // namespace flow::kafka
