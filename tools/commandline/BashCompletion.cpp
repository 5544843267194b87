// The completion of a tool in bash.
#include "runtime/base/Status.h"
#include "tools/commandline/Describe.h"
#include "tools/commandline/OptionValues.h"

#include <algorithm>

namespace cleave {
namespace {

std::string join(const std::vector<std::string> &words, const char *separator) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : separator) + word;
  return text;
}

// `_cleave_run` for `cleave-run`.
std::string functionOf(const CLI::App &app) {
  std::string name = "_" + app.get_name();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// Assignments of `words` and `paths` for the values of an option.
std::string assignments(const OptionValues &values) {
  const char *paths = values.files ? "file" : values.folders ? "directory" : "";
  return concat("words='", join(values.words, " "), "' paths=", paths);
}

// A case for each option that needs a value; those without values to complete share one.
std::string cases(const CLI::App &app) {
  std::string text;
  std::vector<std::string> free;
  for (const CLI::Option *option : shownOptions(app)) {
    const std::vector<std::string> names = namesOf(*option);
    if (!needsValue(*option) || names.empty())
      continue;
    const OptionValues values = valuesOf(*option);
    if (values.words.empty() && !values.files && !values.folders)
      free.insert(free.end(), names.begin(), names.end());
    else
      text += concat("    ", join(names, "|"), ") ", assignments(values), " ;;\n");
  }
  return free.empty() ? text : concat(text, "    ", join(free, "|"), ") words= paths= ;;\n");
}

// Values where no option waits for one: those of the positional arguments.
OptionValues positionals(const CLI::App &app) {
  OptionValues all;
  for (const CLI::Option *option : shownOptions(app))
    if (option->get_positional()) {
      const OptionValues values = valuesOf(*option);
      all.words.insert(all.words.end(), values.words.begin(), values.words.end());
      all.files |= values.files;
      all.folders |= values.folders;
    }
  for (const CLI::App *command : commandsOf(app))
    all.words.push_back(command->get_name());
  return all;
}

// After a command, calls the completion of its tool, which is in a file beside this one.
constexpr char kDelegate[] = R"(  local command=${COMP_WORDS[1]}
  if ((COMP_CWORD > 1)) && [[ $command != -* ]]; then
    local file=${BASH_SOURCE[0]%/*}/cleave-$command
    [[ -r $file ]] || return 0
    source "$file"
    COMP_WORDS=("cleave-$command" "${COMP_WORDS[@]:2}")
    COMP_CWORD=$((COMP_CWORD - 1))
    "_cleave_$command"
    return
  fi
)";

} // namespace

std::string bashCompletion(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::Option *option : shownOptions(app))
    for (const std::string &name : namesOf(*option))
      names.push_back(name);
  return concat(
      "# Completion of ", app.get_name(), " in bash, written by Cleave.\n", functionOf(app),
      "() {\n", commandsOf(app).empty() ? "" : kDelegate,
      R"(  local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} words paths
  # `=` is a word of its own.
  if [[ $word == = ]]; then word=
  elif [[ $option == = ]]; then option=${COMP_WORDS[COMP_CWORD - 2]}; fi
  case $option in
)",
      cases(app), "    *) ", assignments(positionals(app)),
      "\n      if [[ $word == -* ]]; then words='", join(names, " "), R"(' paths=; fi ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" ${paths:+-A $paths} -- "$word")
  if [[ $paths ]]; then compopt -o filenames 2>/dev/null; fi
}
complete -F )",
      functionOf(app), " ", app.get_name(), "\n");
}

} // namespace cleave
