#include "engine/app/cli/root.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "engine/app/cli/reset_plan.h"
#include "engine/app/cli/text.h"
#include "engine/app/version.h"
#include "schemas/suggestion.h"

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

std::string with_help(const std::string& text, const std::string& command) {
  return text + (text.ends_with('?') ? " see " : "; see ") + command + " --help";
}

// What people know from kafka-consumer-groups.sh --reset-offsets, and what is here instead.
std::string in_kafkas_words(const std::string& option) {
  struct Known {
    std::string_view option;
    const char* instead;
  };
  constexpr const char* position = "--to-earliest is the only position so far";
  static constexpr std::array known{
      Known{"--to-latest", position},
      Known{"--to-offset", position},
      Known{"--to-datetime", position},
      Known{"--to-current", position},
      Known{"--by-duration", position},
      Known{"--shift-by", position},
      Known{"--from-file", position},
      Known{"--reset-offsets", "that is what flow reset does"},
      Known{"--execute", "flow reset asks at once; to look before, use flow status"},
      Known{"--dry-run", "flow reset asks at once; to look before, use flow status"},
      Known{"--all-topics", "name each topic with --topic"},
      Known{"--all-groups", "name each group with --group"},
      Known{"--export", "flow history ID -o json has before and after of each partition"},
  };
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const Known& one) { return one.option == option; });
  return found == known.end() ? std::string{} : found->instead;
}

// An option that the command does not have, with what was likely meant.
std::string not_expected_text(const CLI::App& command, const std::vector<std::string>& extras) {
  for (const auto& extra : extras) {
    if (!extra.starts_with("--")) continue;
    const auto option = extra.substr(0, extra.find('='));
    if (command.get_name() == "reset") {
      if (const auto instead = in_kafkas_words(option); !instead.empty()) {
        return option + ": " + instead;
      }
    }
    std::vector<std::string> known;
    for (const auto* one : command.get_options()) {
      for (const auto& name : one->get_lnames()) known.push_back("--" + name);
    }
    if (const auto meant = likely_meant(option, known); !meant.empty()) {
      return "not expected: " + option + "; did you mean '" + meant + "'?";
    }
    return "not expected: " + option;
  }
  if (command.get_name() == "reset" && command.count("--wait") > 0) {
    auto words = command.get_option("PIPELINE")->results();
    words.insert(words.end(), extras.begin(), extras.end());
    if (std::find(words.begin(), words.end(), "verified") != words.end()) return wait_needs_equals;
  }
  return "not expected: " + joined(extras, " ");
}

// CLI11's words as ours: one line, lower case, with the way to the help.
std::string usage_text(const CLI::ParseError& problem, const CLI::App& chosen,
                       const std::vector<std::string>& extras, const std::string& command) {
  std::string text = problem.what();
  text = text.substr(0, text.find('\n'));
  if (const auto at = text.find("At Most 1 required"); at != std::string::npos) {
    return with_help(text.substr(0, at) + "is given more than once", command);
  }
  if (const auto at = text.find(": 1 required "); at != std::string::npos) {
    return with_help(text.substr(0, at) + " needs a value", command);
  }
  if (!extras.empty()) return with_help(not_expected_text(chosen, extras), command);
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return with_help(text, command);
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
  std::vector<std::string> known;
  for (const auto* command : at.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(command->get_name());
  }
  const auto words = at.remaining();
  const auto word = std::find_if(words.begin(), words.end(),
                                 [](const std::string& one) { return !one.starts_with("-"); });
  const std::string text = word == words.end()
                               ? "no command given; known are: " + joined(known, ", ")
                               : "no command '" + *word + "'; " + suggestion(*word, known);
  return with_help(text, name);
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
            lacks_command ? no_command_text(*command, name)
                          : usage_text(problem, *command, root.remaining(true), name)};
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
