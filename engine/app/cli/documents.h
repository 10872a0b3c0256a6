#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>

#include "store/facts.h"

// What -o json prints; docs/reference/cli.md describes it, and fields are only ever added. Pure.
namespace flow::app {

// Everything that is known of one request.
boost::json::object request_document(const store::RequestFacts& facts);

boost::json::value text_or_null(const std::string& text);
boost::json::value instant_or_null(const std::optional<Instant>& at);
boost::json::array members_document(const std::vector<Member>& members);

// One line with its line end.
std::string to_text(const boost::json::value& document);

}  // namespace flow::app
