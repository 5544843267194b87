// Functions: expands mathematical functions to arithmetic, so that kernels need no library of
// device functions.
#pragma once

#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"

namespace cleave::codegen {

// Replaces the functions of emitted kernels by the same polynomials as on CPUs; in double precision
// there are exp, log and powers, with a relative error of about 1e-15. A function that is left and
// that GPUs do not have is an error that names the kernel.
Status expandFunctions(mlir::ModuleOp module);

} // namespace cleave::codegen
