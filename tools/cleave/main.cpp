// cleave COMMAND ...: runs the tool cleave-COMMAND that lies beside this executable.
#include "runtime/base/Nearest.h"
#include "tools/cleave/Commands.h"
#include "tools/commandline/CommandLine.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <unistd.h>

using namespace cleave;

namespace {

namespace fs = std::filesystem;

// The executable of a command, which need not exist. Empty if this executable's own place is not
// known.
fs::path toolOf(const std::string &command) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : self.parent_path() / ("cleave-" + command);
}

Status unknown(const std::string &command) {
  std::vector<std::string> names;
  for (const Command &known : commands())
    names.push_back(known.name);
  const std::vector<std::string> similar = similarNames(command, names);
  return Status::userError("unknown command '", command, "'",
                           similar.empty() ? "; `cleave --help` lists the commands"
                                           : concat("; did you mean ", oneOf(similar), "?"));
}

// Becomes the tool of the command, with the words after the command as its arguments. Returns only
// if that fails.
Status become(const std::string &command, char **words) {
  const fs::path tool = toolOf(command);
  std::string path = tool.string();
  words[0] = path.data();
  ::execv(path.c_str(), words);
  const int cause = errno;
  for (const Command &known : commands())
    if (known.name == command)
      return Status::userError("cannot execute '", path, "': ", std::strerror(cause),
                               "; install cleave and its tools into one folder");
  return unknown(command);
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 1 && argv[1][0] != '-')
    return fail("cleave", become(argv[1], argv + 1));
  CLI::App app("Plans and runs the training of a neural network on many devices.\n"
               "`cleave COMMAND --help` describes a command.",
               "cleave");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  for (const Command &command : commands())
    app.add_subcommand(command.name, command.purpose)->group("Commands");
  if (std::optional<int> code = readCommandLine(app, argc, argv))
    return *code;
  std::fputs(app.help().c_str(), stdout);
  return static_cast<int>(StatusKind::UserError);
}
