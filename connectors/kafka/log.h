#pragma once

#include <functional>
#include <string_view>

// What librdkafka itself has to say (connections lost, authentication failed). It never holds
// passwords: librdkafka logs no settings, and neither do we.
namespace flow::kafka {

// `level` as syslog(3): 3 error, 4 warning, 6 info, 7 debug. Called from librdkafka's threads: must
// not block, throw, or call into this connector.
using LogSink = std::function<void(int level, std::string_view client, std::string_view text)>;

// Where it goes from now on; nowhere by default. Call before the first client is made.
void set_log_sink(LogSink sink);

// Hands one line to the sink.
void log_line(int level, std::string_view client, std::string_view text);

}  // namespace flow::kafka
