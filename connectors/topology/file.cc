#include "connectors/topology/file.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "connectors/files/read_file.h"
#include "schemas/suggestion.h"

namespace flow::topology {
namespace {

// Thrown inside this file only; parse_topology turns it into an Error.
struct Wrong {
  YAML::Mark mark;
  std::string field;
  std::string problem;
};

void expect_map(const YAML::Node& node, const std::string& field,
                const std::vector<std::string>& known) {
  if (!node.IsMap()) {
    throw Wrong{node.Mark(), field, "must be a mapping of fields"};
  }
  std::set<std::string> seen;
  for (const auto& entry : node) {
    const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : std::string{"?"};
    const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
    const std::string path = field.empty() ? name : field + "." + name;
    if (!is_known) {
      throw Wrong{entry.first.Mark(), path, "unknown field; " + suggestion(name, known)};
    }
    if (!seen.insert(name).second) {
      throw Wrong{entry.first.Mark(), path, "stands here twice"};
    }
  }
}

YAML::Node child(const YAML::Node& node, const std::string& name) {
  for (const auto& entry : node) {
    if (entry.first.IsScalar() && entry.first.Scalar() == name) {
      return entry.second;
    }
  }
  return YAML::Node{YAML::NodeType::Undefined};
}

// A value that is left out has the place of the next token; so the place of a text is its field's
// name.
YAML::Mark place_of(const YAML::Node& node, const std::string& name) {
  for (const auto& entry : node) {
    if (entry.first.IsScalar() && entry.first.Scalar() == name) {
      return entry.first.Mark();
    }
  }
  return node.Mark();
}

std::string text_of(const YAML::Node& node, const std::string& field, const char* name) {
  const auto value = child(node, name);
  const std::string path = field + "." + name;
  if (value.IsNull() || (value.IsScalar() && value.Scalar().empty())) {
    throw Wrong{place_of(node, name), path, "is empty"};
  }
  if (!value.IsScalar()) {
    throw Wrong{place_of(node, name), path, "must be a text"};
  }
  return value.Scalar();
}

std::string optional_text(const YAML::Node& node, const std::string& field, const char* name) {
  return child(node, name).IsDefined() ? text_of(node, field, name) : std::string{};
}

std::string required_text(const YAML::Node& node, const std::string& field, const char* name) {
  if (!child(node, name).IsDefined()) {
    throw Wrong{node.Mark(), field + "." + name, "is missing"};
  }
  return text_of(node, field, name);
}

void expect_list(const YAML::Node& value, const std::string& path) {
  if (!value.IsSequence()) {
    throw Wrong{value.Mark(), path, "must be a list"};
  }
}

// Names become parts of a group id, <pipeline>.<streamlet>.<inlet>.
void expect_name(const YAML::Node& node, const std::string& field, const std::string& name) {
  const bool blank = std::any_of(name.begin(), name.end(),
                                 [](unsigned char c) { return c <= ' ' || c == 0x7f || c == '/'; });
  if (blank) {
    throw Wrong{place_of(node, "name"), field + ".name", "'" + name + "' holds a space or a '/'"};
  }
}

void expect_topic(const YAML::Node& node, const std::string& field, const std::string& topic) {
  constexpr std::size_t length_max = 249;  // Kafka's own limits of a topic's name
  const bool legal = std::all_of(topic.begin(), topic.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  });
  if (!legal || topic.size() > length_max || topic == "." || topic == "..") {
    throw Wrong{
        place_of(node, "topic"), field + ".topic",
        "'" + topic + "' is no topic name (letters, digits, '.', '_' and '-', at most 249)"};
  }
}

port::Inlet inlet_of(const YAML::Node& node, const std::string& field) {
  expect_map(node, field, {"name", "topic", "group", "workload", "cluster"});
  port::Inlet inlet;
  inlet.name = required_text(node, field, "name");
  expect_name(node, field, inlet.name);
  const std::string topic = required_text(node, field, "topic");
  expect_topic(node, field, topic);
  inlet.topic = TopicName{topic};
  if (const std::string group = optional_text(node, field, "group"); !group.empty()) {
    inlet.group = GroupId{group};
  }
  inlet.workload = optional_text(node, field, "workload");
  const bool has_kind =
      inlet.workload.starts_with("deployment/") || inlet.workload.starts_with("statefulset/");
  if (!inlet.workload.empty() && (!has_kind || inlet.workload.ends_with("/"))) {
    throw Wrong{place_of(node, "workload"), field + ".workload",
                "'" + inlet.workload + "' must be deployment/NAME or statefulset/NAME"};
  }
  inlet.cluster = optional_text(node, field, "cluster");
  if (inlet.cluster == "default") {
    inlet.cluster.clear();
  }
  return inlet;
}

// Calls `add(node, field)` for each entry of the list `name`; names must not repeat.
template <typename Add>
void each_of(const YAML::Node& node, const std::string& field, const char* name, Add add) {
  const auto list = child(node, name);
  if (!list.IsDefined() || list.IsNull()) {
    return;
  }
  const std::string path = field.empty() ? name : field + "." + name;
  expect_list(list, path);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string at = path + "[" + std::to_string(i) + "]";
    const std::string key = add(list[i], at);
    if (!seen.insert(key).second) {
      throw Wrong{list[i].Mark(), at + ".name", "'" + key + "' stands here twice"};
    }
  }
}

port::Streamlet streamlet_of(const YAML::Node& node, const std::string& field) {
  expect_map(node, field, {"name", "inlets"});
  port::Streamlet streamlet;
  streamlet.name = required_text(node, field, "name");
  expect_name(node, field, streamlet.name);
  each_of(node, field, "inlets", [&](const YAML::Node& entry, const std::string& at) {
    streamlet.inlets.push_back(inlet_of(entry, at));
    return streamlet.inlets.back().name;
  });
  return streamlet;
}

port::Pipeline pipeline_of(const YAML::Node& node, const std::string& field) {
  expect_map(node, field, {"namespace", "name", "streamlets"});
  port::Pipeline pipeline;
  pipeline.namespace_name = optional_text(node, field, "namespace");
  pipeline.name = required_text(node, field, "name");
  expect_name(node, field, pipeline.name);
  each_of(node, field, "streamlets", [&](const YAML::Node& entry, const std::string& at) {
    pipeline.streamlets.push_back(streamlet_of(entry, at));
    return pipeline.streamlets.back().name;
  });
  return pipeline;
}

Error problem(const std::string& file, const YAML::Mark& mark, const std::string& field,
              const std::string& why) {
  const std::string line = mark.is_null() ? std::string{} : ":" + std::to_string(mark.line + 1);
  return error(Errc::invalid,
               file + line + ": " + (field.empty() ? std::string{} : field + ": ") + why);
}

}  // namespace

Result<port::Topology> parse_topology(std::string_view text, const std::string& file) {
  try {
    const auto documents = YAML::LoadAll(std::string{text});
    if (documents.size() > 1) {
      return problem(file, documents[1].Mark(), {}, "only one document can stand in a file");
    }
    if (documents.empty() || documents[0].IsNull()) {
      return problem(file, YAML::Mark::null_mark(), {},
                     "is empty; an empty topology reads: pipelines: []");
    }
    const auto& root = documents[0];
    expect_map(root, {}, {"pipelines"});
    if (!child(root, "pipelines").IsDefined()) {
      throw Wrong{root.Mark(), "pipelines", "is missing"};
    }
    port::Topology topology{true, file, {}, {}};
    each_of(root, {}, "pipelines", [&](const YAML::Node& entry, const std::string& at) {
      topology.pipelines.push_back(pipeline_of(entry, at));
      const auto& made = topology.pipelines.back();
      return made.namespace_name.empty() ? made.name : made.namespace_name + "/" + made.name;
    });
    return topology;
  } catch (const Wrong& wrong) {
    return problem(file, wrong.mark, wrong.field, wrong.problem);
  } catch (const YAML::Exception& wrong) {
    return problem(file, wrong.mark, {}, "not YAML: " + wrong.msg);
  }
}

Result<port::Topology> load_topology(const std::string& file) {
  BOOST_OUTCOME_TRY(const auto text, files::read_file(file));
  return parse_topology(text, file);
}

}  // namespace flow::topology
