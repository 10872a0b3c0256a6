#include "engine/app/cli/commands.h"

namespace flow::app {
namespace {

// CLI11 takes whatever follows for an option's value, also the next option.
std::string refuse_an_option(std::string& value) {
  return value.starts_with("--") ? "needs a value, but '" + value + "' follows" : std::string{};
}

CLI::Option* add_text_flag(CLI::App& command, const std::string& name,
                           std::optional<std::string>& into, const std::string& help,
                           const std::string& value_name) {
  return command
      .add_option_function<std::string>(
          name, [&into](const std::string& value) { into = value; }, help)
      ->option_text(value_name)
      ->check(CLI::Validator{refuse_an_option, ""});
}

}  // namespace

CLI::Option* add_text(CLI::App& command, const std::string& name, std::string& into,
                      const std::string& help, const std::string& value_name) {
  return command.add_option(name, into, help)
      ->option_text(value_name)
      ->check(CLI::Validator{refuse_an_option, ""});
}

CLI::Option* add_texts(CLI::App& command, const std::string& name, std::vector<std::string>& into,
                       const std::string& help, const std::string& value_name) {
  return command.add_option(name, into, help)
      ->allow_extra_args(false)
      ->option_text(value_name)
      ->check(CLI::Validator{refuse_an_option, ""});
}

void add_common_options(CLI::App& command, Chosen& chosen, Prints prints) {
  auto& invocation = chosen.invocation;
  auto& flags = invocation.flags;
  const char* group = "Where Kafka is";
  add_text_flag(command, "--bootstrap-server", flags.bootstrap_server,
                "brokers to start from (or FLOW_BOOTSTRAP_SERVERS)", "HOST:PORT[,...]")
      ->group(group);
  add_text_flag(command, "--command-config", flags.command_config,
                "a Java client properties file (or FLOW_COMMAND_CONFIG)", "FILE")
      ->group(group);
  add_text_flag(command, "--control-topic", flags.control_topic,
                "the control topic (or FLOW_CONTROL_TOPIC); flow-control by default", "TOPIC")
      ->group(group);
  add_text_flag(command, "--topology", flags.topology,
                "the pipelines, see docs/pipelines.yaml (or FLOW_TOPOLOGY)", "FILE")
      ->group(group);
  add_text_flag(command, "--context", flags.context,
                "one of the contexts in ~/.config/flow/config.yaml", "NAME")
      ->group(group);
  const char* output = "Output";
  command.add_flag("-v,--verbose", invocation.verbose, "say more on stderr")->group(output);
  if (prints == Prints::nothing) return;
  command
      .add_option_function<std::string>(
          "-o,--output",
          [&invocation](const std::string& value) {
            invocation.output = value == "json" ? Output::json : Output::table;
          },
          "how results are printed; table by default")
      ->option_text("table|json")
      ->check(CLI::Validator{[](std::string& value) {
                               return value == "json" || value == "table"
                                          ? std::string{}
                                          : "'" + value + "' is not table or json";
                             },
                             ""})
      ->group(output);
  if (prints != Prints::documents_and_id) return;
  command.add_flag("-q,--quiet", invocation.quiet, "print the id of each request alone")
      ->group(output);
}

}  // namespace flow::app
