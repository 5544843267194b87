// CommandLine: reading of command lines and reporting of errors, shared by all tools.
#pragma once

#include "runtime/base/Status.h"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace cleave {

// The version of Cleave, and in parentheses how this build differs from the usual one.
std::string version();

// How much a tool prints.
enum class Verbosity {
  Quiet, // -q: errors only
  Normal,
  Verbose, // -v: all that it knows
};
// As the command line says; Normal before it is read.
Verbosity verbosity();
// Replaces the help of -q and -v where a tool means something particular; before readCommandLine.
void describeVerbosity(const std::string &quiet, const std::string &verbose);

// Reads the command line, with the options -q, -v and --version, which all tools have. Returns an
// exit code if the tool must end: 0 after printing help or the version, 1 after printing an error.
// An empty value is the first error, then an option that does not exist, with the option that was
// probably meant.
// The name of `app` is the tool's name. From then on, memory that cannot be allocated ends the tool
// with a message and exit code 1.
std::optional<int> readCommandLine(CLI::App &app, int argc, char **argv);

// The type of an option with these values: `a|b|c`. More on types: OptionValues.h.
std::string valuesType(const std::vector<std::string> &values);

// Checks of option values: a number above 0, and one of at least 0.
CLI::Validator positive();
CLI::Validator nonNegative();
// The check that a value is one of these words.
CLI::Validator isOneOf(const std::vector<std::string> &words);

// Read the environment variable CLEAVE_CHECK_KERNELS. wantsChecks: it is set, and neither 0 nor
// `wait`, so that kernels and plans check every access. wantsWaits: it is `wait`, so that ranks
// synchronize after each instruction.
bool wantsChecks();
bool wantsWaits();

// Prints `TOOL: error: MESSAGE` to stderr, control characters as `\xNN`, and returns the exit code.
int fail(const std::string &tool, const std::string &message, int exitCode);
int fail(const std::string &tool, const Status &status);

} // namespace cleave
