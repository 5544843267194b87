// Phases: the phases of a compilation in order. Each takes the module of the phase before it and
// leaves one that keeps the phase's promise (passes/promise), which its verifier checks after every
// run, in release builds too.
#pragma once

#include "passes/driver/Compile.h"

#include "llvm/ADT/ArrayRef.h"

namespace cleave::driver {

// One phase.
struct Phase {
  const char *name;
  const char *summary; // describes the module that the phase leaves
  Status (*run)(Compilation &compilation);
  Status (*verify)(Compilation &compilation); // a defect names the broken rule
};

// All phases in order.
llvm::ArrayRef<Phase> phases();

// The index of the phase with this name, or an error that lists the names.
Result<size_t> findPhase(const std::string &name);

} // namespace cleave::driver
