#include "tools/commandline/CommandLine.h"

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

CLI::Validator positive() {
  return numberThat([](double value) { return value > 0; }, "a number above 0", "POSITIVE");
}

CLI::Validator nonNegative() {
  return numberThat([](double value) { return value >= 0; }, "a number of at least 0",
                    "NONNEGATIVE");
}

bool wantsChecks() {
  const char *checks = std::getenv("CLEAVE_CHECK_KERNELS");
  return checks && std::string_view(checks) != "0";
}

int fail(const std::string &tool, const std::string &message, int exitCode) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: error: %s\n", tool.c_str(), message.c_str());
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

std::optional<int> readCommandLine(CLI::App &app, int argc, char **argv) {
  std::set_new_handler(endWithoutMemory);
  app.set_version_flag("--version", concat(app.get_name(), " ", version()));
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &success) {
    return app.exit(success);
  } catch (const CLI::ParseError &error) {
    return fail(app.get_name(), Status::userError(error.what(), " (see --help)"));
  }
  return std::nullopt;
}

} // namespace cleave
