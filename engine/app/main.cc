#include "engine/app/cli/root.h"

int main(int argc, char** argv) { return flow::app::run(argc, argv); }
