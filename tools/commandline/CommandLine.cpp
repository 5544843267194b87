#include "tools/commandline/CommandLine.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace cleave {

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

std::optional<int> readCommandLine(CLI::App &app, int argc, char **argv) {
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
