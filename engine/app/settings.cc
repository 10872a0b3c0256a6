#include "engine/app/settings.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace flow::app {
namespace {

// One setting with the three places that may say it.
struct Choice {
  const std::optional<std::string>& flag;
  const char* variable;
  const std::string& context;
};

class Resolver {
 public:
  Resolver(const Flags& flags, const Environment& environment)
      : flags_(flags), environment_(environment) {}

  Result<Settings> resolve() {
    BOOST_OUTCOME_TRY(find_context());
    const std::string command_config =
        choose({flags_.command_config, "FLOW_COMMAND_CONFIG", context_.command_config});
    if (!command_config.empty()) {
      BOOST_OUTCOME_TRY(auto properties, kafka::load_properties(command_config));
      settings_.kafka = std::move(properties.config);
      settings_.notes.insert(settings_.notes.end(), properties.warnings.begin(),
                             properties.warnings.end());
      settings_.details = std::move(properties.ignored);
    }
    const std::string bootstrap =
        choose({flags_.bootstrap_server, "FLOW_BOOTSTRAP_SERVERS", context_.bootstrap_server});
    if (!bootstrap.empty()) {
      // librdkafka's other name of the setting would win over this one.
      settings_.kafka.settings.erase("metadata.broker.list");
      settings_.kafka.settings["bootstrap.servers"] = bootstrap;
    }
    if (!settings_.kafka.settings.contains("bootstrap.servers") &&
        !settings_.kafka.settings.contains("metadata.broker.list")) {
      return nothing_says_where();
    }
    std::string topic =
        choose({flags_.control_topic, "FLOW_CONTROL_TOPIC", context_.control_topic});
    if (topic.empty()) topic = default_control_topic;
    if (const auto problem = topic_name_problem(topic); !problem.empty()) {
      return error(Errc::invalid, "control topic: " + problem);
    }
    settings_.control_topic = TopicName{topic};
    settings_.topology = choose({flags_.topology, "FLOW_TOPOLOGY", context_.topology});
    return std::move(settings_);
  }

 private:
  Result<void> find_context() {
    BOOST_OUTCOME_TRY(auto contexts, load_contexts(environment_));
    file_ = contexts.file;
    if (!contexts.problem.empty()) {
      if (flags_.context) return error(Errc::invalid, std::move(contexts.problem));
      settings_.notes.push_back(contexts.problem + "; going on without contexts");
    }
    const std::string name = flags_.context.value_or(contexts.current);
    if (name.empty()) return boost::outcome_v2::success();
    const auto found = contexts.contexts.find(name);
    if (found == contexts.contexts.end()) {
      return error(Errc::invalid,
                   "no context '" + name + "' in " + (file_.empty() ? "any file" : file_));
    }
    context_ = found->second;
    return boost::outcome_v2::success();
  }

  std::string choose(const Choice& choice) {
    if (choice.flag) return *choice.flag;
    const auto variable = environment_(choice.variable);
    if (!variable) return choice.context;
    // Whoever names a context on the command line may have forgotten what the environment says.
    if (flags_.context && !choice.context.empty() && choice.context != *variable) {
      settings_.notes.push_back(std::string{choice.variable} + "=" + *variable +
                                " wins over context '" + *flags_.context + "' (" + choice.context +
                                ")");
    }
    return *variable;
  }

  Error nothing_says_where() const {
    return error(Errc::invalid,
                 "nothing says where Kafka is: give --bootstrap-server HOST:PORT, or set "
                 "FLOW_BOOTSTRAP_SERVERS, or write a context into " +
                     (file_.empty() ? "~/.config/flow/config.yaml" : file_));
  }

  const Flags& flags_;
  const Environment& environment_;
  std::string file_;
  Context context_;
  Settings settings_;
};

}  // namespace

Result<Settings> resolve_settings(const Flags& flags, const Environment& environment) {
  return Resolver{flags, environment}.resolve();
}

std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>{value};
}

std::string topic_name_problem(const std::string& name) {
  constexpr std::size_t length_max = 249;  // Kafka's own limits of a topic's name
  const bool legal = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  });
  if (legal && !name.empty() && name.size() <= length_max && name != "." && name != "..") return {};
  return "'" + name + "' is no topic name (letters, digits, '.', '_' and '-', at most 249)";
}

}  // namespace flow::app
