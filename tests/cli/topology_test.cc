#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "connectors/topology/file.h"
#include "connectors/topology/file_source.h"

using namespace flow;
using namespace flow::topology;

namespace {

std::string error_of(const std::string& text) {
  const auto made = parse_topology(text, "pipelines.yaml");
  return made ? "no error" : made.error().detail;
}

class TemporaryFile {
 public:
  TemporaryFile() {
    std::string form = (std::filesystem::temp_directory_path() / "flow-topology-XXXXXX").string();
    folder_ = ::mkdtemp(form.data());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ / "pipelines.yaml"; }
  void write(const std::string& text) const { std::ofstream{path()} << text; }
  // As editors and ConfigMap volumes do: a new file takes the name.
  void replace(const std::string& text) const {
    std::ofstream{folder_ / "next"} << text;
    std::filesystem::rename(folder_ / "next", path());
  }

 private:
  std::filesystem::path folder_;
};

std::string pipeline_named(const std::string& name) {
  return "pipelines:\n  - name: " + name + "\n";
}

}  // namespace

TEST_CASE("the example in the docs is a topology") {
  const auto made = load_topology(FLOW_DOCS "/pipelines.yaml");
  REQUIRE(made);
  const auto& topology = made.value();
  CHECK(topology.whole);
  CHECK(topology.problem.empty());
  REQUIRE(topology.pipelines.size() == 1);
  const auto& cart = topology.pipelines[0];
  CHECK(cart.namespace_name == "shop");
  CHECK(cart.name == "cart");
  REQUIRE(cart.streamlets.size() == 3);
  CHECK(cart.streamlets[0].inlets.at(0).topic == TopicName{"shop.cart-events.v1"});
  CHECK_FALSE(cart.streamlets[0].inlets.at(0).group);
  CHECK(cart.streamlets[1].inlets.at(1).group == GroupId{"price-reader"});
  CHECK(cart.streamlets[2].inlets.empty());
}

TEST_CASE("what is wrong with a topology is told with file, line and field") {
  const std::string head = "pipelines:\n  - name: cart\n    streamlets:\n      - name: router\n";
  const std::string inlet = head + "        inlets:\n          - name: in\n            ";
  struct Case {
    std::string text;
    std::string detail;
  };
  const auto c = GENERATE_COPY(values<Case>({
      {"", "pipelines.yaml: is empty; an empty topology reads: pipelines: []"},
      {"# nothing\n", "pipelines.yaml: is empty; an empty topology reads: pipelines: []"},
      {"- a\n", "pipelines.yaml:1: must be a mapping of fields"},
      {"{}\n", "pipelines.yaml:1: pipelines: is missing"},
      {"pipeline: []\n", "pipelines.yaml:1: pipeline: unknown field; did you mean 'pipelines'?"},
      {"pipelines: cart\n", "pipelines.yaml:1: pipelines: must be a list"},
      {"pipelines:\n  - cart\n", "pipelines.yaml:2: pipelines[0]: must be a mapping of fields"},
      {"pipelines:\n  - namespace: shop\n", "pipelines.yaml:2: pipelines[0].name: is missing"},
      {"pipelines:\n  - name:\n", "pipelines.yaml:2: pipelines[0].name: is empty"},
      {"pipelines:\n  - name: {}\n", "pipelines.yaml:2: pipelines[0].name: must be a text"},
      {"pipelines:\n  - name: ''\n", "pipelines.yaml:2: pipelines[0].name: is empty"},
      {"pipelines:\n  - name: a b\n",
       "pipelines.yaml:2: pipelines[0].name: 'a b' holds a space or a '/'"},
      {"pipelines:\n  - name: a\n    name: b\n",
       "pipelines.yaml:3: pipelines[0].name: stands here twice"},
      {"pipelines:\n  - name: a\n  - name: a\n",
       "pipelines.yaml:3: pipelines[1].name: 'a' stands here twice"},
      {"pipelines:\n  - name: a\n    replicas: 3\n",
       "pipelines.yaml:3: pipelines[0].replicas: unknown field; known are: namespace, name, "
       "streamlets"},
      {head + "        inlet: []\n",
       "pipelines.yaml:5: pipelines[0].streamlets[0].inlet: unknown field; did you mean 'inlets'?"},
      {head + "      - name: router\n",
       "pipelines.yaml:5: pipelines[0].streamlets[1].name: 'router' stands here twice"},
      {inlet + "topc: t\n",
       "pipelines.yaml:7: pipelines[0].streamlets[0].inlets[0].topc: unknown field; did you mean "
       "'topic'?"},
      {inlet + "group: g\n",
       "pipelines.yaml:6: pipelines[0].streamlets[0].inlets[0].topic: is missing"},
      {inlet + "topic: [a]\n",
       "pipelines.yaml:7: pipelines[0].streamlets[0].inlets[0].topic: must be a text"},
      {inlet + "topic: a/b\n",
       "pipelines.yaml:7: pipelines[0].streamlets[0].inlets[0].topic: 'a/b' is no topic name "
       "(letters, "
       "digits, '.', '_' and '-', at most 249)"},
      {inlet + "topic: t\n            workload: router\n",
       "pipelines.yaml:8: pipelines[0].streamlets[0].inlets[0].workload: 'router' must be "
       "deployment/NAME or "
       "statefulset/NAME"},
      {"pipelines: []\n---\npipelines: []\n",
       "pipelines.yaml:3: only one document can stand in a file"},
      {"pipelines: [\n", "pipelines.yaml:2: not YAML: end of sequence flow not found"},
  }));
  CAPTURE(c.text);
  CHECK(error_of(c.text) == c.detail);
}

TEST_CASE("pipelines of one name may stand in several namespaces") {
  CHECK(error_of("pipelines:\n  - {name: a, namespace: x}\n  - {name: a, namespace: y}\n") ==
        "no error");
}

TEST_CASE("an inlet's cluster named default is the control topic's own") {
  const auto made = parse_topology(
      "pipelines: [{name: a, streamlets: [{name: s, inlets: [{name: i, topic: t, cluster: "
      "default}]}]}]",
      "f");
  REQUIRE(made);
  CHECK(made.value().pipelines[0].streamlets[0].inlets[0].cluster.empty());
}

TEST_CASE("a changed topology file is read again, and the last good one holds") {
  const TemporaryFile file;
  FileTopology source{file.path()};

  CHECK_FALSE(source.current().whole);
  CHECK(source.current().problem == "cannot read '" + file.path() + "': No such file or directory");
  CHECK(source.current().source == file.path());

  file.write(pipeline_named("one"));
  CHECK(source.current().whole);
  CHECK(source.current().problem.empty());
  CHECK(source.current().pipelines.at(0).name == "one");

  SECTION("written over, within one tick and with the same size") {
    file.write(pipeline_named("two"));
    CHECK(source.current().pipelines.at(0).name == "two");
  }
  SECTION("replaced") {
    file.replace(pipeline_named("two"));
    CHECK(source.current().pipelines.at(0).name == "two");
  }
  SECTION("made wrong, and mended") {
    file.write("pipelines: 1\n");
    CHECK_FALSE(source.current().whole);
    CHECK(source.current().problem == file.path() + ":1: pipelines: must be a list");
    CHECK(source.current().pipelines.at(0).name == "one");
    file.write(pipeline_named("two"));
    CHECK(source.current().whole);
    CHECK(source.current().pipelines.at(0).name == "two");
  }
  SECTION("deleted") {
    std::filesystem::remove(file.path());
    CHECK_FALSE(source.current().whole);
    CHECK(source.current().pipelines.at(0).name == "one");
  }
}
