// Crash: code generation that ends in a signal or a failed assertion becomes a message.
#pragma once

#include "dialects/program/Program.h"
#include "runtime/base/Status.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace cleave::codegen {

// What `work` returns, or a defect that names the signal which ended it. What it had built by then is never freed. Several
// threads may call it at a time.
Status runGuarded(llvm::function_ref<Status()> work);

// Writes the kernel in a module of its own to a new file PREFIX.XXXXXX.mlir, or in the folder for temporary files if the
// prefix is empty. Returns the file's name.
Result<std::string> writeReproducer(program::KernelOp kernel, const std::string &prefix);

} // namespace cleave::codegen
