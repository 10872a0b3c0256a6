#pragma once

#include <map>
#include <string>
#include <string_view>

#include "schemas/error.h"

namespace flow::kafka {

// One entry of a JAAS login configuration, as sasl.jaas.config holds it.
struct JaasEntry {
  std::string login_module;  // the Java class
  std::map<std::string, std::string> options;
};

// Takes the value of sasl.jaas.config:
//   org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";
// Errc::invalid: what is wrong, without any option's value. Pure; anyone may call it.
Result<JaasEntry> parse_jaas(std::string_view text);

}  // namespace flow::kafka
