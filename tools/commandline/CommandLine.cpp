#include "tools/commandline/CommandLine.h"

#include "runtime/base/Nearest.h"
#include "runtime/base/Terminal.h"
#include "tools/commandline/Describe.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

namespace cleave {

// Accepts the numbers for which `isAllowed` holds; `name` stands in the help.
static CLI::Validator numberThat(bool (*isAllowed)(double), const char *expected,
                                 const char *name) {
  return CLI::Validator(
      [=](std::string &text) {
        char *end = nullptr;
        double value = std::strtod(text.c_str(), &end);
        bool isNumber = !text.empty() && *end == '\0';
        return isNumber && isAllowed(value) ? std::string()
                                            : concat("found '", text, "', expected ", expected);
      },
      name);
}

std::string valuesType(const std::vector<std::string> &values) {
  std::string type;
  for (const std::string &value : values)
    type += (type.empty() ? "" : "|") + value;
  return type;
}

CLI::Validator positive() {
  return numberThat([](double value) { return value > 0; }, "a number above 0", "POSITIVE");
}

CLI::Validator nonNegative() {
  return numberThat([](double value) { return value >= 0; }, "a number of at least 0",
                    "NONNEGATIVE");
}

CLI::Validator isOneOf(const std::vector<std::string> &words) {
  return CLI::Validator(
      [=](std::string &text) {
        const bool isKnown = std::find(words.begin(), words.end(), text) != words.end();
        return isKnown ? std::string() : concat("found '", text, "'", suggestion(text, words));
      },
      CLI::detail::generate_set(words));
}

bool wantsChecks() {
  const char *checks = std::getenv("CLEAVE_CHECK_KERNELS");
  return checks && std::string_view(checks) != "0" && !wantsWaits();
}

bool wantsWaits() {
  const char *checks = std::getenv("CLEAVE_CHECK_KERNELS");
  return checks && std::string_view(checks) == "wait";
}

// The message with `\xNN` in place of control characters, which a terminal would obey: a message
// may quote a broken file.
static std::string withoutControls(const std::string &message) {
  std::string text;
  for (const char c : message) {
    if (!std::iscntrl(static_cast<unsigned char>(c)) || c == '\n' || c == '\t') {
      text += c;
      continue;
    }
    char code[5];
    std::snprintf(code, sizeof code, "\\x%02x", static_cast<unsigned char>(c));
    text += code;
  }
  return text;
}

int fail(const std::string &tool, const std::string &message, int exitCode) {
  std::fflush(stdout);
  const std::string head = styled(tool + ": error:", Style::Error, Stream::Error);
  std::fprintf(stderr, "%s %s\n", head.c_str(), withoutControls(message).c_str());
  return exitCode;
}

int fail(const std::string &tool, const Status &status) {
  return fail(tool, status.message(), status.exitCode());
}

// Called where memory cannot be allocated, on any thread and inside libraries that do not throw:
// ends the process with a message instead of an abort.
[[noreturn]] static void endWithoutMemory() {
  rlimit limit{};
  char cause[80] = "this machine has no more";
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    std::snprintf(cause, sizeof cause, "this process may have %llu bytes (ulimit -v)",
                  static_cast<unsigned long long>(limit.rlim_cur));
  std::fprintf(stderr,
               "%s: error: could not allocate memory: %s; use a smaller model, batch or data file, "
               "or end other programs\n",
               program_invocation_short_name, cause);
  ::_exit(static_cast<int>(StatusKind::UserError));
}

std::string version() { return CLEAVE_VERSION; }

static Verbosity chosenVerbosity = Verbosity::Normal;
static std::string quietHelp = "print errors only", verboseHelp = "print more";

Verbosity verbosity() { return chosenVerbosity; }

void describeVerbosity(const std::string &quiet, const std::string &verbose) {
  quietHelp = quiet;
  verboseHelp = verbose;
}

// Adds -q and -v. A tool may have a -q of its own.
static void addVerbosity(CLI::App &app) {
  auto choose = [](Verbosity chosen) { return [chosen](int64_t) { chosenVerbosity = chosen; }; };
  CLI::Option *verbose =
      app.add_flag_function("-v,--verbose", choose(Verbosity::Verbose), verboseHelp)
          ->configurable(false);
  if (CLI::Option *quiet = app.get_option_no_throw("--quiet"))
    verbose->excludes(quiet);
  else
    app.add_flag_function("-q,--quiet", choose(Verbosity::Quiet), quietHelp)
        ->excludes(verbose)
        ->configurable(false);
}

// Adds the hidden option --describe, by which the build writes man pages and completions.
static void addDescriptions(CLI::App &app) {
  auto print = [&app](const std::string &format) {
    const std::string text = format == "man"    ? manPage(app)
                             : format == "bash" ? bashCompletion(app)
                                                : zshCompletion(app);
    // Printed as the version is, with a newline.
    throw CLI::CallForVersion(text.substr(0, text.size() - 1), 0);
  };
  app.add_option_function<std::string>("--describe", print)
      ->check(isOneOf({"man", "bash", "zsh"}))
      ->group("");
}

// The long options that may be meant by a name without dashes.
static std::vector<std::string> similarOptions(const CLI::App &app, const std::string &name) {
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options())
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  std::vector<std::string> similar = similarNames(name, names);
  for (std::string &one : similar)
    one = "--" + one;
  return similar;
}

// A user error if a word is not an option and no argument takes it. Words that look like options
// come first: a value after a misspelt option is only a consequence.
static Status refuseUnknown(const CLI::App &app) {
  const std::vector<std::string> words = app.remaining();
  if (words.empty())
    return Status::ok();
  auto found = std::ranges::find_if(words, [](auto &word) { return word.starts_with('-'); });
  if (found == words.end())
    return Status::userError("found '", words[0], "', which no option takes (see --help)");
  const std::string word = found->substr(0, found->find('='));
  const std::string name = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  const std::vector<std::string> similar = similarOptions(app, name);
  return Status::userError("unknown option ", word,
                           similar.empty() ? " (see --help)"
                                           : concat("; did you mean ", oneOf(similar), "?"));
}

// A user error if a value is empty, for example because a shell variable is not set. The next word
// must not become the value, and neither must a default.
static Status refuseEmpty(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i], before = argv[i - 1];
    const bool isOption = word.starts_with("--") && word.find('=') == word.size() - 1;
    if (isOption)
      return Status::userError(word.substr(0, word.size() - 1),
                               " is empty; give a value, or leave the option out");
    if (word.empty())
      return before.starts_with('-')
                 ? Status::userError(before, " is empty; give a value, or leave the option out")
                 : Status::userError("argument ", i, " is empty; give a value, or leave it out");
  }
  return Status::ok();
}

// A user error if an option that needs a value is followed by another option.
static Status refuseMissing(const CLI::App &app, int argc, char **argv) {
  auto optionOf = [&](const std::string &word) {
    return word.starts_with('-') ? app.get_option_no_throw(word.substr(0, word.find('=')))
                                 : nullptr;
  };
  for (int i = 1; i + 1 < argc && std::string(argv[i]) != "--"; ++i) {
    const std::string word = argv[i];
    const CLI::Option *option = word.find('=') == std::string::npos ? optionOf(word) : nullptr;
    if (option && option->get_expected_min() > 0 && option->get_type_size_min() > 0 &&
        optionOf(argv[i + 1]))
      return Status::userError(word, " has no value: the next word is the option ", argv[i + 1],
                               " (see --help)");
  }
  return Status::ok();
}

std::optional<int> readCommandLine(CLI::App &app, int argc, char **argv) {
  std::set_new_handler(endWithoutMemory);
  if (app.get_subcommands([](const CLI::App *) { return true; }).empty()) // commands have their own
    addVerbosity(app);
  app.set_version_flag("--version", concat(app.get_name(), " ", version()));
  addDescriptions(app);
  app.allow_extras();
  for (const Status &status : {refuseEmpty(argc, argv), refuseMissing(app, argc, argv)})
    if (!status)
      return fail(app.get_name(), status);
  Status status;
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &success) {
    return app.exit(success);
  } catch (const CLI::ParseError &error) {
    status = Status::userError(error.what(), " (see --help)");
  }
  if (Status unknown = refuseUnknown(app); !unknown)
    status = unknown;
  return status ? std::nullopt : std::optional(fail(app.get_name(), status));
}

} // namespace cleave
