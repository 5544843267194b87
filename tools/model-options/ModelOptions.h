// The options that say what a model is and how it is trained, shared by the tools that read models.
#pragma once

#include "passes/driver/Options.h"
#include "runtime/base/Status.h"

#include <CLI/CLI.hpp>

namespace cleave::tools {

// Options as they are typed, before they are checked.
struct TypedModelOptions {
  std::vector<std::string> symbols, values, ties;
};

// MODEL, --set, --value, --tie, --untie.
void addModelOptions(CLI::App &app, driver::CompileOptions &options, TypedModelOptions &typed);

// --train, --loss, --optimizer and what else belongs to a training step.
void addStepOptions(CLI::App &app, driver::CompileOptions &options);

// Fills `options` from what was typed; a user error where it makes no sense.
Status checkModelOptions(const TypedModelOptions &typed, driver::CompileOptions &options);

} // namespace cleave::tools
