#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/app/contexts.h"
#include "engine/app/settings.h"

using namespace flow;
using namespace flow::app;

namespace {

// A home folder with a file of contexts and a properties file, and an environment made of values.
class World {
 public:
  World() {
    std::string form = (std::filesystem::temp_directory_path() / "flow-settings-XXXXXX").string();
    home_ = ::mkdtemp(form.data());
    variables_["HOME"] = home_;
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() { std::filesystem::remove_all(home_); }

  std::string home() const { return home_; }
  std::string write(const std::string& name, const std::string& text) const {
    const auto path = home_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << text;
    return path;
  }
  void contexts(const std::string& text) const { write(".config/flow/config.yaml", text); }
  void set(const std::string& name, const std::string& value) { variables_[name] = value; }

  Result<Settings> resolve(const Flags& flags) const {
    return resolve_settings(flags, [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::nullopt : std::optional{found->second};
    });
  }
  std::string bootstrap(const Flags& flags) const {
    const auto settings = resolve(flags);
    return settings ? settings.value().kafka.settings.at("bootstrap.servers")
                    : settings.error().detail;
  }

 private:
  std::filesystem::path home_;
  std::map<std::string, std::string> variables_;
};

const std::string two_contexts =
    "current-context: dev\n"
    "contexts:\n"
    "  dev:\n"
    "    bootstrap-server: dev:9092\n"
    "  prod:\n"
    "    bootstrap-server: prod:9092\n"
    "    control-topic: prod-control\n"
    "    command-config: prod.properties\n"
    "    topology: ~/pipelines.yaml\n";

Flags context(const std::string& name) {
  Flags flags;
  flags.context = name;
  return flags;
}

}  // namespace

TEST_CASE(
    "a flag wins over the environment, that over the context, that over the file's own word") {
  World world;
  const auto properties = world.write("client.properties", "bootstrap.servers=file:9092\n");
  Flags flags;
  flags.command_config = properties;
  CHECK(world.bootstrap(flags) == "file:9092");
  world.contexts("current-context: c\ncontexts: {c: {bootstrap-server: 'context:9092'}}\n");
  CHECK(world.bootstrap(flags) == "context:9092");
  world.set("FLOW_BOOTSTRAP_SERVERS", "variable:9092");
  CHECK(world.bootstrap(flags) == "variable:9092");
  flags.bootstrap_server = "flag:9092";
  CHECK(world.bootstrap(flags) == "flag:9092");
}

TEST_CASE("the default of the control topic, and whoever says otherwise") {
  World world;
  Flags flags;
  flags.bootstrap_server = "a:1";
  CHECK(world.resolve(flags).value().control_topic == TopicName{"flow-control"});
  world.contexts(two_contexts);
  world.write(".config/flow/prod.properties", "client.id=me\n");
  flags.context = "prod";
  CHECK(world.resolve(flags).value().control_topic == TopicName{"prod-control"});
  world.set("FLOW_CONTROL_TOPIC", "variable");
  CHECK(world.resolve(flags).value().control_topic == TopicName{"variable"});
  flags.control_topic = "flag";
  CHECK(world.resolve(flags).value().control_topic == TopicName{"flag"});
  flags.control_topic = "no/topic";
  CHECK(world.resolve(flags).error().detail ==
        "control topic: 'no/topic' is no topic name (letters, digits, '.', '_' and '-', at most "
        "249)");
}

TEST_CASE("contexts: the current one, another one, none of that name") {
  World world;
  world.contexts(two_contexts);
  world.write(".config/flow/prod.properties", "client.id=me\n");
  CHECK(world.bootstrap({}) == "dev:9092");
  const auto prod = world.resolve(context("prod"));
  REQUIRE(prod);
  CHECK(prod.value().kafka.settings.at("client.id") == "me");
  CHECK(prod.value().topology == world.home() + "/pipelines.yaml");
  CHECK(world.bootstrap(context("test")) ==
        "no context 'test' in " + world.home() + "/.config/flow/config.yaml");
}

TEST_CASE("a context named on the command line that the environment overrules is told") {
  World world;
  world.contexts(two_contexts);
  world.set("FLOW_BOOTSTRAP_SERVERS", "other:9092");
  CHECK(world.resolve({}).value().notes.empty());
  const auto settings = world.resolve(context("dev"));
  REQUIRE(settings.value().notes.size() == 1);
  CHECK(settings.value().notes[0] ==
        "FLOW_BOOTSTRAP_SERVERS=other:9092 wins over context 'dev' (dev:9092)");
}

TEST_CASE("XDG_CONFIG_HOME is respected") {
  World world;
  world.write("elsewhere/flow/config.yaml",
              "current-context: c\ncontexts: {c: {bootstrap-server: 'x:1'}}\n");
  world.set("XDG_CONFIG_HOME", world.home() + "/elsewhere");
  CHECK(world.bootstrap({}) == "x:1");
}

TEST_CASE("nothing says where Kafka is") {
  World world;
  const auto settings = world.resolve({});
  REQUIRE_FALSE(settings);
  CHECK(settings.error().errc == Errc::invalid);
  CHECK(settings.error().detail ==
        "nothing says where Kafka is: give --bootstrap-server HOST:PORT, or set "
        "FLOW_BOOTSTRAP_SERVERS, or write a context into " +
            world.home() + "/.config/flow/config.yaml");
}

TEST_CASE("what is wrong with the file of contexts is told with file, line and field") {
  struct Case {
    const char* text;
    const char* detail;
  };
  const auto c = GENERATE(values<Case>({
      {"- a\n", "f.yaml:1: must be a mapping of fields"},
      {"context: {}\n", "f.yaml:1: context: unknown field; did you mean 'contexts'?"},
      {"users: {}\n", "f.yaml:1: users: unknown field; known are: current-context, contexts"},
      {"current-context: x\n", "f.yaml:1: current-context: no context 'x'"},
      {"current-context:\n", "f.yaml:1: current-context: must be a text that is not empty"},
      {"contexts:\n  a: x\n", "f.yaml:2: contexts.a: must be a mapping of fields"},
      {"contexts:\n  a:\n    bootstrap: x\n",
       "f.yaml:3: contexts.a.bootstrap: unknown field; known are: bootstrap-server, "
       "command-config, "
       "control-topic, topology"},
      {"contexts:\n  a:\n    bootstrap-server: [x]\n",
       "f.yaml:3: contexts.a.bootstrap-server: must be a text that is not empty"},
      {"contexts: {a: {}, a: {}}\n", "f.yaml:1: contexts.a: stands here twice"},
      {"contexts: [\n", "f.yaml:2: not YAML: end of sequence flow not found"},
  }));
  CAPTURE(c.text);
  const auto parsed = parse_contexts(c.text, "f.yaml", "/home/me");
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().detail == c.detail);
}

// Tests may run as root, who may read whatever there is; a folder cannot be read by anybody.
TEST_CASE("a file of contexts that cannot be read matters to who needs a context") {
  World world;
  std::filesystem::create_directories(world.home() + "/.config/flow/config.yaml");
  const std::string problem = "cannot read '" + world.home() + "/.config/flow/config.yaml': ";
  CHECK_THAT(world.bootstrap(context("prod")), Catch::StartsWith(problem));
  world.set("FLOW_BOOTSTRAP_SERVERS", "variable:9092");
  const auto settings = world.resolve({});
  REQUIRE(settings);
  REQUIRE(settings.value().notes.size() == 1);
  CHECK_THAT(settings.value().notes[0],
             Catch::StartsWith(problem) && Catch::EndsWith("; going on without contexts"));
}

TEST_CASE("an empty file of contexts is none at all") {
  CHECK(parse_contexts("", "f.yaml", "").value().contexts.empty());
  CHECK(parse_contexts("# nothing\n", "f.yaml", "").value().contexts.empty());
}
