#pragma once

#include <functional>
#include <string_view>

// What librdkafka itself has to say (connections lost, authentication failed), and what this
// connector could not say by an error. It never holds passwords: librdkafka leaves them out of the
// settings that it logs, and we log none.
namespace flow::kafka {

// `level` as syslog(3): 4 warning is the connector's own word; librdkafka's are 6 info and 7 debug,
// whatever it thinks of them: what matters comes back as the error of the call that it spoils.
// Called from librdkafka's threads: must
// not block, throw, or call into this connector.
using LogSink = std::function<void(int level, std::string_view client, std::string_view text)>;

// Where it goes from now on; nowhere by default. Call before the first client is made.
void set_log_sink(LogSink sink);

// Hands one line to the sink.
void log_line(int level, std::string_view client, std::string_view text);

}  // namespace flow::kafka
