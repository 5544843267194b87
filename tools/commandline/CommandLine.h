// CommandLine: reading of command lines and reporting of errors, shared by all tools.
#pragma once

#include "runtime/base/Status.h"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace cleave {

// The version of Cleave, and in parentheses how this build differs from the usual one.
std::string version();

// Reads the command line. Returns an exit code if the tool must end: 0 after printing help or the
// version, 1 after printing an error. The name of `app` is the tool's name. From then on, memory
// that cannot be allocated ends the tool with a message and exit code 1.
std::optional<int> readCommandLine(CLI::App &app, int argc, char **argv);

// Checks of option values: a number above 0, and one of at least 0.
CLI::Validator positive();
CLI::Validator nonNegative();

// Whether the environment variable CLEAVE_CHECK_KERNELS is set and not 0: kernels and plans check
// every access.
bool wantsChecks();

// Prints `TOOL: error: MESSAGE` to stderr and returns the exit code.
int fail(const std::string &tool, const std::string &message, int exitCode);
int fail(const std::string &tool, const Status &status);

} // namespace cleave
