#include <cstdlib>

#include "engine/app/cli/root.h"

// Everything that was said has been written by then, and what librdkafka's threads still do is of
// no interest: leaving at once saves the milliseconds that taking them down costs.
int main(int argc, char** argv) { std::_Exit(flow::app::run(argc, argv)); }
