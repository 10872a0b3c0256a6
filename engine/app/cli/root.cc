#include "engine/app/cli/root.h"

#include <algorithm>
#include <cctype>

#include "engine/app/version.h"

namespace flow::app {
namespace {

constexpr const char* description =
    "flow moves Kafka consumer groups: each reset is a record on a control topic, carried out\n"
    "exactly once by an engine, and kept for ever.\n";

constexpr const char* root_examples = R"(
Examples:
  export FLOW_BOOTSTRAP_SERVERS=kafka-1:9092
  flow topic create
  flow engine --store /var/lib/flow --topology pipelines.yaml
  flow reset cart --wait
  flow reset --group billing --topic orders --to-earliest --wait
  flow history cart

flow COMMAND --help says more.
)";

// CLI11's words as ours: one line, lower case, with the way to the help.
std::string usage_text(const CLI::ParseError& problem, const std::string& command) {
  std::string text = problem.what();
  text = text.substr(0, text.find('\n'));
  const std::string help = "; see " + command + " --help";
  if (const auto at = text.find("At Most 1 required"); at != std::string::npos) {
    return text.substr(0, at) + "is given more than once" + help;
  }
  if (const auto at = text.find(": 1 required "); at != std::string::npos) {
    return text.substr(0, at) + " needs a value" + help;
  }
  for (const char* extra : {"The following argument was not expected: ",
                            "The following arguments were not expected: "}) {
    if (text.starts_with(extra)) {
      return "not expected: " + text.substr(std::string{extra}.size()) + help;
    }
  }
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text + help;
}

// Help in our words where CLI11 has no setting for them.
class Help : public CLI::Formatter {
 public:
  Help() {
    constexpr std::size_t names_width = 34;
    column_width(names_width);
    label("SUBCOMMAND", "COMMAND");
    label("Positionals", "Arguments");
  }

  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    const std::string name = CLI::Formatter::make_option_name(option, is_positional);
    return name == "--wait{done}" ? "--wait[=verified]" : name;
  }

  std::string make_help(const CLI::App* command, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(command, std::move(name), mode);
    for (auto at = text.find("\n\n\n"); at != std::string::npos; at = text.find("\n\n\n")) {
      text.erase(at, 1);
    }
    while (text.ends_with("\n\n")) text.pop_back();
    return text;
  }
};

// The innermost command that was named, with its parents: "flow topic create".
std::pair<const CLI::App*, std::string> innermost(const CLI::App& root) {
  const CLI::App* at = &root;
  std::string name = "flow";
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    name += " " + at->get_name();
  }
  return {at, name};
}

std::string no_command_text(const CLI::App& at, const std::string& name) {
  std::string known;
  for (const auto* command : at.get_subcommands([](const CLI::App*) { return true; })) {
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  const auto words = at.remaining();
  const auto word = std::find_if(words.begin(), words.end(),
                                 [](const std::string& one) { return !one.starts_with("-"); });
  const std::string what = word != words.end() ? "no command '" + *word + "'" : "no command given";
  return what + "; known are: " + known + "; see " + name + " --help";
}

}  // namespace

Parsed parse(const std::vector<std::string>& words, Chosen& chosen) {
  CLI::App root{description, "flow"};
  root.set_version_flag("--version", std::string{"flow "} + version, "print the version");
  root.require_subcommand(1);
  root.footer(root_examples);
  root.formatter(std::make_shared<Help>());
  root.set_help_flag("-h,--help", "print this help");
  add_engine(root, chosen);
  add_reset(root, chosen);
  add_status(root, chosen);
  add_history(root, chosen);
  add_cancel(root, chosen);
  add_topic(root, chosen);
  try {
    root.parse(std::vector<std::string>{words.rbegin(), words.rend()});
    if (chosen.invocation.quiet && chosen.invocation.output == Output::json) {
      return {Exit::usage, {}, "--quiet and --output json exclude each other"};
    }
    return {};
  } catch (const CLI::CallForHelp&) {
    const auto [command, name] = innermost(root);
    const auto space = name.rfind(' ');
    return {Exit::ok, command->help(space == std::string::npos ? "" : name.substr(0, space)), {}};
  } catch (const CLI::CallForVersion& asked) {
    return {Exit::ok, std::string{asked.what()} + "\n", {}};
  } catch (const CLI::ParseError& problem) {
    const auto [command, name] = innermost(root);
    const bool lacks_command =
        !command->get_subcommands([](const CLI::App*) { return true; }).empty();
    return {Exit::usage,
            {},
            lacks_command ? no_command_text(*command, name) : usage_text(problem, name)};
  }
}

int run(int argc, char** argv) {
  Terminal terminal;
  Chosen chosen;
  chosen.invocation.terminal = &terminal;
  chosen.invocation.environment = process_environment;
  auto [exit, out, problem] = parse({argv + 1, argv + argc}, chosen);
  terminal.out(out);
  if (!problem.empty()) terminal.note(problem);
  if (chosen.command && exit == Exit::ok && out.empty()) {
    const auto result = chosen.command(chosen.invocation);
    exit = result ? result.value() : exit_of(result.error().errc);
    if (!result) terminal.note(text_of(result.error()));
  }
  if (!terminal.finish(problem)) {
    terminal.note(problem);
    exit = Exit::usage;
  }
  return static_cast<int>(exit);
}

}  // namespace flow::app
