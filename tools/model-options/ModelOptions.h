// Command-line options for the model and its training, shared by cleave-compile and cleave-profile.
#pragma once

#include "passes/driver/Options.h"
#include "runtime/base/Status.h"

#include <CLI/CLI.hpp>

namespace cleave::tools {

// Unparsed values of --set, --value and --tie.
struct TypedModelOptions {
  std::vector<std::string> symbols, values, ties;
};

// Adds MODEL, --set, --value, --tie, --untie and --input.
void addModelOptions(CLI::App &app, driver::CompileOptions &options, TypedModelOptions &typed);

// Adds the options of a training step: --train, --loss, --optimizer, …
void addStepOptions(CLI::App &app, driver::CompileOptions &options);

// Parses `typed` into `options`. A user error for malformed or contradictory options.
Status checkModelOptions(const TypedModelOptions &typed, driver::CompileOptions &options);

} // namespace cleave::tools
