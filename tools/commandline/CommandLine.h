// CommandLine: how every tool reads its command line and ends when it cannot do what it was asked.
#pragma once

#include "runtime/base/Status.h"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace cleave {

// Reads the command line. Returns the exit code if the tool has to end: 0 after printing the help that was asked for, 1
// after saying what is wrong. The app's name is the tool's.
std::optional<int> readCommandLine(CLI::App &app, int argc, char **argv);

// Whether CLEAVE_CHECK_KERNELS is set in the environment, and not to 0: kernels and plans are to be searched for defects.
bool wantsChecks();

// Prints `TOOL: error: MESSAGE` on stderr; returns the exit code.
int fail(const std::string &tool, const std::string &message, int exitCode);
int fail(const std::string &tool, const Status &status);

} // namespace cleave
