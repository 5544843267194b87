// The completion of a tool in zsh.
#include "runtime/base/Status.h"
#include "tools/commandline/Describe.h"
#include "tools/commandline/OptionValues.h"

namespace cleave {
namespace {

// Text in single quotes with a backslash before each of `special`.
std::string quoted(const std::string &text, const std::string &special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string::npos)
      out += '\\';
    out += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return out;
}

// The action of _arguments that completes the values: words, paths, or a message.
std::string action(const OptionValues &values) {
  std::string words;
  for (const std::string &word : values.words)
    words += " " + quoted(word, ":");
  const std::string paths = values.files ? "_files" : values.folders ? "_files -/" : "";
  if (!words.empty() && !paths.empty())
    return "{ compadd --" + words + "; " + paths + " }";
  return words.empty() ? (paths.empty() ? " " : paths) : "(" + words.substr(1) + ")";
}

// The head of a specification: names that may not follow the option, with its own unless it may be
// repeated; `*` if it may.
std::string excluded(const CLI::Option &option) {
  std::set<std::string> names;
  if (!isRepeatable(option))
    for (const std::string &name : namesOf(option))
      names.insert(name);
  for (const CLI::Option *other : option.get_excludes())
    for (const std::string &name : namesOf(*other))
      names.insert(name);
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : " ") + name;
  return (names.empty() ? "" : "(" + text + ")") + (isRepeatable(option) ? "*" : "");
}

// The specifications of an option, one per name.
std::string specifications(const CLI::Option &option) {
  const std::string help = "[" + quoted(option.get_description(), "[]\\:") + "]";
  std::string value;
  if (needsValue(option))
    value = ":" + quoted(option.get_type_name(), ":\\") + ":" + action(valuesOf(option));
  std::string text;
  for (const std::string &name : namesOf(option)) {
    const bool takesEquals = needsValue(option) && name.starts_with("--");
    text += concat(" \\\n  '", excluded(option), name, takesEquals ? "=" : "", help, value, "'");
  }
  if (option.get_positional())
    text = concat(" \\\n  '",
                  isRepeatable(option)    ? "*:"
                  : option.get_required() ? ":"
                                          : "::",
                  quoted(option.get_name(true), ":\\"), ":", action(valuesOf(option)), "'");
  return text;
}

} // namespace

std::string zshCompletion(const CLI::App &app) {
  std::string text = concat("#compdef ", app.get_name(), "\n# Completion of ", app.get_name(),
                            " in zsh, written by Cleave.\n");
  std::string options;
  for (const CLI::Option *option : shownOptions(app))
    options += specifications(*option);
  if (commandsOf(app).empty())
    return text + "_arguments -s" + options + "\n";
  text += "local state line\nlocal -a commands\ncommands=(\n";
  for (const CLI::App *command : commandsOf(app))
    text += "  '" + command->get_name() + ":" + quoted(command->get_description(), ":\\") + "'\n";
  return text + ")\n_arguments -C" + options + R"( \
  '1: :->command' '*:: :->arguments'
case $state in
  command) _describe command commands ;;
  arguments) _call_function ret "_cleave-$words[1]" ;;
esac
)";
}

} // namespace cleave
