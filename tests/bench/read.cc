#include <cstdio>

#include "tests/bench/client.h"
#include "tests/bench/programs.h"

namespace flow::bench {

int read(const Arguments& arguments) {
  const auto began = Clock::now();
  // librdkafka's own settings, whatever it can do; the end is told by a fetch that waits in vain.
  Tail tail{arguments[0], arguments[1], RD_KAFKA_OFFSET_BEGINNING, {{"fetch.wait.max.ms", "5"}}};
  std::size_t records = 0;
  std::size_t bytes = 0;
  for (bool at_end = false; !at_end;) {
    for (const auto& message : tail.next(1'000)) {
      at_end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
      if (!at_end) {
        ++records;
        bytes += message->len + message->key_len;
      }
    }
  }
  std::printf("{\"ms\": %.3f, \"records\": %zu, \"bytes\": %zu}\n", ms_since(began), records,
              bytes);
  return 0;
}

}  // namespace flow::bench
