#include "tools/commandline/TrainFile.h"

#include "runtime/base/Nearest.h"
#include "runtime/base/Status.h"
#include "tools/commandline/OptionValues.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>

namespace cleave {
namespace {

const std::vector<std::string> kSections = {"compile", "run"};

// A key with its values as on a command line; a single value is a list of one.
struct Entry {
  std::string section, key;
  std::vector<std::string> values;
  size_t line = 0;
};

[[noreturn]] void refuse(size_t line, const std::string &message) {
  throw CLI::ConfigError(concat("--config: line ", line, ": ", message));
}

// Reads the file from front to back.
class TomlReader {
public:
  explicit TomlReader(std::string text) : text_(std::move(text)) {}

  std::vector<Entry> read() {
    std::vector<Entry> entries;
    std::string section;
    for (skip(true); at_ < text_.size(); skip(true)) {
      if (text_[at_] == '[') {
        section = readSection();
      } else {
        Entry entry{section, readWord("an option"), {}, line_};
        expect('=');
        entry.values = readValues();
        entries.push_back(std::move(entry));
      }
      skip(false);
      if (at_ < text_.size() && text_[at_] != '\n')
        refuse(line_, concat("found '", text_[at_], "', expected the end of the line"));
    }
    return entries;
  }

private:
  // Skips blanks and comments, and with `lines` ends of lines.
  void skip(bool lines) {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      if (at_ == text_.size() || !std::isspace(static_cast<unsigned char>(text_[at_])) ||
          (text_[at_] == '\n' && !lines))
        return;
      line_ += text_[at_] == '\n';
    }
  }

  void expect(char c) {
    skip(false);
    if (at_ == text_.size() || text_[at_] != c)
      refuse(line_, concat("expected '", c, "'"));
    ++at_;
  }

  // Letters, digits, signs, dots and underscores.
  std::string readWord(const char *expected) {
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  std::string_view("+-._").find(text_[at_]) != std::string::npos))
      ++at_;
    if (at_ == begin)
      refuse(line_, concat("expected ", expected));
    return text_.substr(begin, at_ - begin);
  }

  std::string readSection() {
    expect('[');
    skip(false);
    const std::string name = readWord("the name of a section");
    expect(']');
    if (std::find(kSections.begin(), kSections.end(), name) == kSections.end())
      refuse(line_, concat("found the section [", name, "], expected [compile] or [run]"));
    return name;
  }

  std::vector<std::string> readValues() {
    skip(false);
    if (at_ == text_.size() || text_[at_] != '[')
      return {readValue()};
    std::vector<std::string> values;
    ++at_;
    for (skip(true); at_ < text_.size() && text_[at_] != ']'; skip(true)) {
      values.push_back(readValue());
      skip(true);
      if (at_ < text_.size() && text_[at_] == ',')
        ++at_;
      else if (at_ < text_.size() && text_[at_] != ']')
        refuse(line_, "expected ',' or ']' after a value of a list");
    }
    expect(']');
    return values;
  }

  std::string readValue() {
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\''))
      return readString(text_[at_]);
    const std::string word = readWord("a value");
    char *end = nullptr;
    std::strtod(word.c_str(), &end);
    if (word != "true" && word != "false" && *end)
      refuse(line_, concat("found ", word, "; write texts in quotes: \"", word, "\""));
    return word;
  }

  // Backslashes escape within double quotes only.
  std::string readString(char quote) {
    std::string value;
    for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_) {
      if (quote == '\'' || text_[at_] != '\\') {
        value += text_[at_];
        continue;
      }
      const char code = ++at_ < text_.size() ? text_[at_] : '\0';
      const size_t known = std::string_view("\"\\nt").find(code);
      if (known == std::string::npos)
        refuse(line_, concat("found '\\", code, "', expected \\\", \\\\, \\n or \\t"));
      value += "\"\\\n\t"[known];
    }
    if (at_ == text_.size() || text_[at_] != quote)
      refuse(line_, concat("expected ", quote, " at the end of a text"));
    ++at_;
    return value;
  }

  std::string text_;
  size_t at_ = 0, line_ = 1;
};

std::string keyOf(const CLI::Option &option) {
  if (!option.get_lnames().empty())
    return option.get_lnames()[0];
  std::string key = option.get_name(true);
  std::transform(key.begin(), key.end(), key.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return key;
}

bool isFlag(const CLI::Option &option) { return option.get_items_expected_max() == 0; }

// The options that a file may give.
std::vector<const CLI::Option *> optionsOf(const CLI::App &app) {
  std::vector<const CLI::Option *> options = shownOptions(app);
  std::erase_if(options, [](const CLI::Option *option) { return !option->get_configurable(); });
  return options;
}

const CLI::Option &findOption(const CLI::App &app, const Entry &entry) {
  std::vector<std::string> keys;
  for (const CLI::Option *option : optionsOf(app)) {
    keys.push_back(keyOf(*option));
    if (keys.back() == entry.key)
      return *option;
  }
  refuse(entry.line, concat("[", entry.section, "] has no option '", entry.key, "'",
                            suggestionAmongMany(entry.key, keys)));
}

// CLI11's reader and writer of configurations, for one section.
class TrainFile : public CLI::Config {
public:
  TrainFile(const CLI::App &app, std::string section) : app_(app), section_(std::move(section)) {}

  std::vector<CLI::ConfigItem> from_config(std::istream &input) const override {
    const std::string text{std::istreambuf_iterator<char>(input), {}};
    std::vector<CLI::ConfigItem> items;
    std::set<std::pair<std::string, std::string>> seen;
    for (const Entry &entry : TomlReader(text).read()) {
      if (entry.section.empty())
        refuse(entry.line, "found an option before the first section, [compile] or [run]");
      if (!seen.emplace(entry.section, entry.key).second)
        refuse(entry.line, concat("found '", entry.key, "' for the second time"));
      if (entry.section != section_)
        continue;
      const CLI::Option &option = findOption(app_, entry);
      std::vector<std::string> values = entry.values;
      if (!needsValue(option) && values == std::vector<std::string>{"false"})
        continue;
      if (!needsValue(option) && !isFlag(option) && values == std::vector<std::string>{"true"})
        values = {""}; // without its value
      if (!values.empty())
        items.push_back({{}, option.get_single_name(), values});
    }
    return items;
  }

  std::string to_config(const CLI::App *app, bool, bool, std::string) const override {
    return trainFileSection(*app, section_);
  }

private:
  const CLI::App &app_;
  std::string section_;
};

// A value in TOML: a number as it is, other texts in quotes.
std::string valueText(const std::string &text) {
  const size_t digits = text.find_first_not_of("0123456789");
  const bool isNumber =
      !text.empty() && digits == std::string::npos && (text[0] != '0' || text.size() == 1);
  if (isNumber)
    return text;
  std::string out = "\"";
  for (const char c : text) {
    const size_t code = std::string_view("\"\\\n\t").find(c);
    out += code == std::string::npos ? std::string(1, c) : std::string("\\") + "\"\\nt"[code];
  }
  return out + "\"";
}

} // namespace

void addTrainFile(CLI::App &app, const std::string &section) {
  app.set_config("--config", "",
                 "file with options in its section [" + section +
                     "], for example train.toml; the command line has precedence")
      ->type_name("FILE.toml");
  app.config_formatter(std::make_shared<TrainFile>(app, section));
}

std::string trainFileSection(const CLI::App &app, const std::string &section,
                             const std::string &omitted) {
  std::string text = "[" + section + "]\n";
  for (const CLI::Option *option : optionsOf(app)) {
    if (option->count() == 0 || keyOf(*option) == omitted)
      continue;
    std::string values;
    for (const std::string &value : option->results())
      values += (values.empty() ? "" : ", ") + valueText(value);
    const bool isBare = isFlag(*option) || (!needsValue(*option) && values == "\"\"");
    text += concat(keyOf(*option), " = ",
                   isBare                  ? "true"
                   : isRepeatable(*option) ? "[" + values + "]"
                                           : valueText(option->results().back()),
                   "\n");
  }
  return text;
}

std::vector<TrainFileOption> readTrainFile(const std::string &text) {
  std::vector<TrainFileOption> options;
  try {
    for (Entry &entry : TomlReader(text).read())
      options.push_back({entry.section, entry.key, std::move(entry.values)});
  } catch (const CLI::ConfigError &) {
    return {};
  }
  return options;
}

} // namespace cleave
