// The phases of a compilation, in order. Each takes the module of the phase before and promises what its summary says;
// its verifier runs behind it, in release builds too.
#pragma once

#include "passes/driver/Compile.h"

#include "llvm/ADT/ArrayRef.h"

namespace cleave::driver {

struct Phase {
  const char *name;
  const char *summary; // one sentence: what the module is like afterwards
  Status (*run)(Compilation &compilation);
  Status (*verify)(Compilation &compilation); // null: the ops' own verifiers are enough
};

llvm::ArrayRef<Phase> phases();

// The phase with this name, or an error that lists the names.
Result<size_t> findPhase(const std::string &name);

} // namespace cleave::driver
