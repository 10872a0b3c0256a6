#include <catch2/catch.hpp>
#include <sstream>

#include "engine/app/cli/root.h"

using namespace flow;
using namespace flow::app;

namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in{line};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

}  // namespace

TEST_CASE("wrong usage is exit code 2 and one line") {
  struct Case {
    const char* line;
    const char* problem;
  };
  const auto c = GENERATE(values<Case>({
      {"",
       "no command given; known are: engine, reset, status, history, cancel, topic; see flow "
       "--help"},
      {"rest", "no command 'rest'; did you mean 'reset'? see flow --help"},
      {"describe",
       "no command 'describe'; known are: engine, reset, status, history, cancel, topic; see flow "
       "--help"},
      {"--foo reset x", "not expected: --foo; see flow reset --help"},
      {"topic", "no command given; known are: create, check; see flow topic --help"},
      {"topic make", "no command 'make'; known are: create, check; see flow topic --help"},
      {"reset x --foo", "not expected: --foo; see flow reset --help"},
      {"reset x --atomc", "not expected: --atomc; did you mean '--atomic'? see flow reset --help"},
      {"reset x --bootstrap-servers=a:1",
       "not expected: --bootstrap-servers; did you mean '--bootstrap-server'? see flow reset "
       "--help"},
      {"reset --group g --topic t --to-latest",
       "--to-latest: --to-earliest is the only position so far; see flow reset --help"},
      {"reset --group g --topic t --to-offset 5",
       "--to-offset: --to-earliest is the only position so far; see flow reset --help"},
      {"reset --group g --topic t --shift-by -5",
       "--shift-by: --to-earliest is the only position so far; see flow reset --help"},
      {"reset --group g --all-topics --to-earliest --execute",
       "--all-topics: name each topic with --topic; see flow reset --help"},
      {"reset --group g --topic t --to-earliest --execute",
       "--execute: flow reset asks at once; to look before, use flow status; see flow reset "
       "--help"},
      {"reset --wait verified x",
       "--wait takes its value with '=': --wait=verified; see flow reset --help"},
      {"history --dry-run", "not expected: --dry-run; see flow history --help"},
      {"reset x y", "not expected: y; see flow reset --help"},
      {"reset --group", "--group needs a value; see flow reset --help"},
      {"reset --group --topic t",
       "--group: needs a value, but '--topic' follows; see flow reset --help"},
      {"reset x --timeout 1m --timeout 2m",
       "--timeout: is given more than once; see flow reset --help"},
      {"reset x -q -o json", "--quiet and --output json exclude each other"},
      {"status -o xml", "--output: 'xml' is not table or json; see flow status --help"},
      {"cancel", "ID is required; see flow cancel --help"},
      {"engine", "--store is required; see flow engine --help"},
      {"engine --store s --log-level loud",
       "--log-level: 'loud' is not one of trace, debug, info, warn, error; see flow engine --help"},
      {"topic create --replication-factor x",
       "--replication-factor: 'x' is no number of replicas; see flow topic create --help"},
  }));
  CAPTURE(c.line);
  Chosen chosen;
  const auto parsed = parse(words_of(c.line), chosen);
  CHECK(parsed.exit == Exit::usage);
  CHECK(parsed.out.empty());
  CHECK(parsed.problem == c.problem);
}

TEST_CASE("every level has a help with an example") {
  const auto line = GENERATE(as<std::string>{}, "", "engine", "reset", "status", "history",
                             "cancel", "topic", "topic create", "topic check");
  CAPTURE(line);
  Chosen chosen;
  const auto parsed = parse(words_of(line + " --help"), chosen);
  CHECK(parsed.exit == Exit::ok);
  CHECK(parsed.problem.empty());
  CHECK_THAT(parsed.out, Catch::Contains("Example"));
  CHECK_THAT(parsed.out, Catch::Contains("Usage: flow" + (line.empty() ? "" : " " + line)));
  std::istringstream in{parsed.out};
  for (std::string text; std::getline(in, text);) CHECK(text.size() <= 110);
}

TEST_CASE("the version goes to stdout") {
  Chosen chosen;
  const auto parsed = parse({"--version"}, chosen);
  CHECK(parsed.exit == Exit::ok);
  CHECK(parsed.out == std::string{"flow "} + FLOW_VERSION + "\n");
}

TEST_CASE("a command line chooses its command and says where Kafka is") {
  struct Case {
    const char* line;
    std::optional<std::string> bootstrap;
    Output output;
    bool quiet;
  };
  const auto c = GENERATE(values<Case>({
      {"reset cart", std::nullopt, Output::table, false},
      {"reset cart -q --bootstrap-server a:1", "a:1", Output::table, true},
      {"reset --bootstrap-server=a:1 -o json cart --wait=verified", "a:1", Output::json, false},
      {"reset --streamlet router cart", std::nullopt, Output::table, false},
      {"reset --wait cart", std::nullopt, Output::table, false},
      {"status", std::nullopt, Output::table, false},
      {"status status", std::nullopt, Output::table, false},
      {"history --since 7d topic", std::nullopt, Output::table, false},
      {"cancel 1b7c2f0e-9a4d-4d3e-8f55-2f1c0b6e9a71 -q", std::nullopt, Output::table, true},
      {"topic check -ojson", std::nullopt, Output::json, false},
      {"engine --store s --log-format json", std::nullopt, Output::table, false},
  }));
  CAPTURE(c.line);
  Chosen chosen;
  const auto parsed = parse(words_of(c.line), chosen);
  CHECK(parsed.problem.empty());
  CHECK(chosen.command);
  CHECK(chosen.invocation.flags.bootstrap_server == c.bootstrap);
  CHECK(chosen.invocation.output == c.output);
  CHECK(chosen.invocation.quiet == c.quiet);
}
