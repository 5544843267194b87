// Crash: turns a signal or a failed assertion during code generation into an error message.
#pragma once

#include "dialects/program/Program.h"
#include "runtime/base/Status.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace cleave::codegen {

// Runs `work` and returns its status, or a defect that names the signal which ended it. Memory that
// it had allocated by then is leaked. Several threads may call this function at a time.
Status runGuarded(llvm::function_ref<Status()> work);

// Writes the kernel in a module of its own to a new file PREFIX.XXXXXX.mlir, or to the folder for
// temporary files if the prefix is empty. Returns the file's name.
Result<std::string> writeReproducer(program::KernelOp kernel, const std::string &prefix);

} // namespace cleave::codegen
