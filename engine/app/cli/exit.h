#pragma once

#include <cstdint>
#include <string>

#include "schemas/error.h"

namespace flow::app {

enum class Exit : std::uint8_t {
  ok = 0,       // appended; done under --wait
  refused = 1,  // refused, failed, or with failures
  usage = 2,    // wrong usage, or something cannot be reached
  waiting = 3,  // --wait ended while it still waits
};

// What an error means for whoever started the command.
inline Exit exit_of(Errc errc) {
  switch (errc) {
    case Errc::invalid:
    case Errc::unreachable:
    case Errc::retriable:
    case Errc::unknown:
    case Errc::cancelled:
      return Exit::usage;
    case Errc::refused:
    case Errc::fenced:
    case Errc::fatal:
      return Exit::refused;
  }
  return Exit::usage;
}

// The error as the command says it.
inline std::string text_of(const Error& problem) {
  switch (problem.errc) {
    case Errc::unreachable:
      return "cannot reach Kafka: " + problem.detail;
    case Errc::retriable:
      return "Kafka is not ready: " + problem.detail + "; try again";
    case Errc::invalid:
    case Errc::refused:
    case Errc::fenced:
    case Errc::fatal:
    case Errc::unknown:
    case Errc::cancelled:
      break;
  }
  return problem.detail;
}

}  // namespace flow::app
