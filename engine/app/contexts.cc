#include "engine/app/contexts.h"

#include <yaml-cpp/yaml.h>

#include <filesystem>

#include "connectors/files/read_file.h"
#include "schemas/suggestion.h"

namespace flow::app {
namespace {

struct Wrong {
  YAML::Mark mark;
  std::string field;
  std::string problem;
};

class Reader {
 public:
  Reader(std::string file, std::string home)
      : folder_(std::filesystem::path{file}.parent_path()), home_(std::move(home)) {
    out_.file = std::move(file);
  }

  Contexts read(const YAML::Node& root) {
    expect_map(root, {});
    for (const auto& entry : root) {
      const std::string name = entry.first.Scalar();
      if (name == "current-context") {
        out_.current = text_of(entry.first, entry.second, name);
      } else if (name == "contexts") {
        read_contexts(entry.second);
      } else {
        throw Wrong{entry.first.Mark(), name,
                    "unknown field; " + suggestion(name, {"current-context", "contexts"})};
      }
    }
    if (!out_.current.empty() && !out_.contexts.contains(out_.current)) {
      throw Wrong{root["current-context"].Mark(), "current-context",
                  "no context '" + out_.current + "'"};
    }
    return std::move(out_);
  }

 private:
  static void expect_map(const YAML::Node& node, const std::string& field) {
    if (!node.IsMap()) throw Wrong{node.Mark(), field, "must be a mapping of fields"};
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) throw Wrong{entry.first.Mark(), field, "a name must be a text"};
    }
  }

  static std::string text_of(const YAML::Node& name, const YAML::Node& value,
                             const std::string& field) {
    if (!value.IsScalar() || value.Scalar().empty()) {
      throw Wrong{name.Mark(), field, "must be a text that is not empty"};
    }
    return value.Scalar();
  }

  void read_contexts(const YAML::Node& node) {
    expect_map(node, "contexts");
    for (const auto& entry : node) {
      const std::string field = "contexts." + entry.first.Scalar();
      expect_map(entry.second, field);
      Context context;
      for (const auto& setting : entry.second) {
        read_setting(setting.first, setting.second, field, context);
      }
      if (!out_.contexts.emplace(entry.first.Scalar(), context).second) {
        throw Wrong{entry.first.Mark(), field, "stands here twice"};
      }
    }
  }

  void read_setting(const YAML::Node& name, const YAML::Node& value, const std::string& context,
                    Context& out) const {
    const std::string field = context + "." + name.Scalar();
    const std::string& known = name.Scalar();
    if (known == "bootstrap-server") {
      out.bootstrap_server = text_of(name, value, field);
    } else if (known == "command-config") {
      out.command_config = path_of(text_of(name, value, field));
    } else if (known == "control-topic") {
      out.control_topic = text_of(name, value, field);
    } else if (known == "topology") {
      out.topology = path_of(text_of(name, value, field));
    } else {
      throw Wrong{name.Mark(), field,
                  "unknown field; " + suggestion(known, {"bootstrap-server", "command-config",
                                                         "control-topic", "topology"})};
    }
  }

  std::string path_of(const std::string& text) const {
    if (text.starts_with("~/") && !home_.empty()) return home_ + text.substr(1);
    const std::filesystem::path path{text};
    return path.is_absolute() ? text : (folder_ / path).string();
  }

  std::filesystem::path folder_;
  std::string home_;
  Contexts out_;
};

Error problem(const std::string& file, const YAML::Mark& mark, const std::string& field,
              const std::string& why) {
  const std::string line = mark.is_null() ? std::string{} : ":" + std::to_string(mark.line + 1);
  return error(Errc::invalid,
               file + line + ": " + (field.empty() ? std::string{} : field + ": ") + why);
}

}  // namespace

std::string contexts_file(const Environment& environment) {
  if (const auto folder = environment("XDG_CONFIG_HOME")) return *folder + "/flow/config.yaml";
  const auto home = environment("HOME");
  return home ? *home + "/.config/flow/config.yaml" : std::string{};
}

Result<Contexts> parse_contexts(std::string_view text, const std::string& file,
                                const std::string& home) {
  try {
    const auto root = YAML::Load(std::string{text});
    if (root.IsNull()) return Contexts{file, {}, {}, {}};
    return Reader{file, home}.read(root);
  } catch (const Wrong& wrong) {
    return problem(file, wrong.mark, wrong.field, wrong.problem);
  } catch (const YAML::Exception& wrong) {
    return problem(file, wrong.mark, {}, "not YAML: " + wrong.msg);
  }
}

Result<Contexts> load_contexts(const Environment& environment) {
  const std::string file = contexts_file(environment);
  Contexts none;
  none.file = file;
  std::error_code hidden;
  if (file.empty() || (!std::filesystem::exists(file, hidden) && !hidden)) return none;
  const auto text = files::read_file(file);
  if (!text) {
    none.problem = text.error().detail;
    return none;
  }
  return parse_contexts(text.value(), file, environment("HOME").value_or(""));
}

}  // namespace flow::app
