#include <cstdio>
#include <string>

#include "tests/bench/programs.h"

int main(int count, char** words) {
  using namespace flow::bench;
  const std::string program = count > 1 ? words[1] : "";
  const Arguments arguments{words + (count > 2 ? 2 : count), words + count};
  if (program == "fill" && arguments.size() == 4) {
    return fill(arguments);
  }
  if (program == "read" && arguments.size() == 2) {
    return read(arguments);
  }
  if (program == "ask" && arguments.size() > 5) {
    return ask(arguments);
  }
  std::fprintf(stderr,
               "usage: flow_bench fill BOOTSTRAP TOPIC REQUESTS PRODUCERS\n"
               "       flow_bench read BOOTSTRAP TOPIC\n"
               "       flow_bench ask BOOTSTRAP TOPIC DATA_TOPIC each|burst|together "
               "guarded|held GROUP...\n");
  return 2;
}
