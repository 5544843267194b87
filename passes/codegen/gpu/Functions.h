// Functions: expands mathematical functions to arithmetic, so that kernels need no library of
// device functions.
#pragma once

#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"

namespace cleave::codegen {

// Replaces the functions of emitted kernels. In single precision the error is a few units in the
// last place; a function with the flag `afn` has a relative error of up to 2^-14 instead. In double
// precision there are exp, log and powers, with a relative error of about 1e-15. A function that is
// left and that GPUs do not have is an error that names the kernel.
Status expandFunctions(mlir::ModuleOp module);

} // namespace cleave::codegen
