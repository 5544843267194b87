// From emitted kernels to machine code.
#pragma once

#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace cleave::codegen {

// Name and features of this machine's CPU, as LLVM calls them: "znver4 +avx512f,…".
std::string hostTarget();

// Lowers a module of emitKernels to the llvm dialect.
Status lowerToLlvm(mlir::ModuleOp module);

// Translates such a module, optimises it and returns an ELF object.
Result<std::string> compileObject(mlir::ModuleOp module);

// Links objects into one shared object by ld.lld.
Result<std::string> linkShared(const std::vector<std::string> &objects);

} // namespace cleave::codegen
