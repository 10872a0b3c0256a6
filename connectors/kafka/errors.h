#pragma once

#include <librdkafka/rdkafka.h>

#include <string>
#include <string_view>

#include "schemas/error.h"

// librdkafka's errors become flow::Error here and nowhere else.
namespace flow::kafka {

// What `code` means for the one who called. A code that is not known counts as retriable: nothing
// is given up for good on a word that we do not understand.
Errc classify(rd_kafka_resp_err_t code);

// Kafka's own words for `code`, in lower case and without "Broker: ": "unknown topic or partition".
std::string reason(rd_kafka_resp_err_t code);

// "<what>: <Kafka's reason>", with the class that belongs to `code`. `what` says what was tried on
// what.
Error failure(rd_kafka_resp_err_t code, std::string_view what);

// The same for one of librdkafka's error objects, with its longer text where that says more.
Error failure(const rd_kafka_error_t* cause, std::string_view what);

// The right that `code` says is missing ("no right to read group"), or an empty text.
std::string_view missing_right(rd_kafka_resp_err_t code);

// Whether `code` says that Kafka knows no such topic or partition.
bool is_no_such_topic(rd_kafka_resp_err_t code);

}  // namespace flow::kafka
