// Compilations of a GPT under options, with which answers beside a plan are compared.
#pragma once

#include "passes/driver/Compile.h"
#include "passes/driver/Variants.h"

#include <string>

namespace cleave::test {

// Trains a GPT with a batch so large that activations need most of the memory; `memory`: --memory.
driver::CompileOptions gptOptions(int64_t ranks, std::optional<planner::Budget> memory = {});

// Compiles up to the phase `planned` with the options of all others.
struct Planned {
  driver::Compilation c;
  Status status;
  explicit Planned(const driver::CompileOptions &options);
};

// The same, which must succeed.
struct Fitting : Planned {
  explicit Fitting(const driver::CompileOptions &options);
};

// Options with a change as users type it, such as `--ranks 4` or `--memory 3KiB --pin zero3`.
driver::CompileOptions changed(driver::CompileOptions options, const std::string &change);

// A compilation after the phase `primitive`, and its plans under other options.
struct AtPrimitive {
  driver::Compilation c;
  driver::Variants variants;
  explicit AtPrimitive(const driver::CompileOptions &options);
};

} // namespace cleave::test
