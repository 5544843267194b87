#include "tools/commandline/OptionValues.h"

#include <algorithm>
#include <cctype>

namespace cleave {

static std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

static void addAlternative(const std::string &text, OptionValues &values) {
  const bool isWord = !text.empty() && !std::isupper(static_cast<unsigned char>(text[0]));
  const std::string name = text.substr(0, text.find_first_of(isWord ? "[" : ".,[: "));
  const std::vector<std::string> files = {"FILE", "PLAN", "MODEL", "KEY"};
  if (std::find(files.begin(), files.end(), name) != files.end())
    values.files = true;
  else if (name == "DIR")
    values.folders = true;
  else if (isWord)
    values.words.push_back(name);
}

OptionValues valuesOf(const CLI::Option &option) {
  OptionValues values;
  const std::string type = option.get_type_name();
  const size_t open = type.find('{'); // of isOneOf()
  if (open != std::string::npos) {
    values.words = split(type.substr(open + 1, type.find('}') - open - 1), ',');
    return values;
  }
  if (option.get_items_expected_max() > 0)
    for (const std::string &alternative : split(type, '|'))
      addAlternative(alternative, values);
  values.folders &= !values.files;
  return values;
}

bool needsValue(const CLI::Option &option) { return option.get_items_expected_min() > 0; }

bool isRepeatable(const CLI::Option &option) {
  return option.get_items_expected_max() == CLI::detail::expected_max_vector_size;
}

std::vector<std::string> namesOf(const CLI::Option &option) {
  std::vector<std::string> names;
  for (const std::string &name : option.get_snames())
    names.push_back("-" + name);
  for (const std::string &name : option.get_lnames())
    names.push_back("--" + name);
  return names;
}

std::vector<const CLI::Option *> shownOptions(const CLI::App &app) {
  return app.get_options([](const CLI::Option *option) { return !option->get_group().empty(); });
}

std::vector<const CLI::App *> commandsOf(const CLI::App &app) {
  return app.get_subcommands([](const CLI::App *) { return true; });
}

} // namespace cleave
