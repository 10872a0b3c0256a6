#pragma once

#include <string>
#include <vector>

// Each takes its arguments, prints one line of JSON on stdout, and returns the exit code.
namespace flow::bench {

using Arguments = std::vector<std::string>;

// BOOTSTRAP TOPIC REQUESTS PRODUCERS: the records of so many finished requests.
int fill(const Arguments& arguments);
// BOOTSTRAP TOPIC: reads all of it and keeps nothing; what librdkafka alone costs.
int read(const Arguments& arguments);
// BOOTSTRAP TOPIC DATA_TOPIC each|burst|together guarded|held GROUP...: requests
// for these groups to earliest, one after the other, all at once, or one for all of them; how long
// until each done (each), or the last (burst, together), could be read.
int ask(const Arguments& arguments);

}  // namespace flow::bench
