#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "connectors/kafka/client_config.h"

namespace flow::kafka {

// How a client greets a broker, as far as it explains why the broker hangs up.
struct Greeting {
  std::string protocol;   // security.protocol; "" is librdkafka's default, plaintext
  std::string mechanism;  // sasl.mechanism, "" where none is set
};

// A connection that failed, in words for people.
struct ConnectionFailure {
  std::string text;
  // The broker is there and does not want us (wrong password, no such mechanism, TLS): waiting does
  // not help.
  bool was_turned_away = false;
};

Greeting greeting_of(const ClientConfig& config);

// What librdkafka logs of a failed connection, without its thread: "h:9092/bootstrap: Connect to
// ipv4#h:9092 failed: Connection refused (after 0ms in state CONNECT)". `certificate_problem` is
// what certificate_problem() said of the broker's certificate last, or empty. Nothing where the
// line only says that an established connection ended.
std::optional<ConnectionFailure> read_failure(std::string_view logged, const Greeting& greeting,
                                              const std::string& certificate_problem);

// Whether a broker's end of a connection is told; such lines are of no interest by themselves.
bool tells_of_a_hang_up(std::string_view logged);

// Why OpenSSL does not take a broker's certificate, with the way out. `reason` is one of its
// X509_V_ERR_*, `broker` is HOST:PORT as we called it, `der` the certificate in question.
std::string certificate_problem(int reason, std::string_view broker, const char* der,
                                std::size_t size);

}  // namespace flow::kafka
