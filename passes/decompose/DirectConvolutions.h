// DirectConvolutions: the convolutions, and gradients of them, that a generated kernel computes
// instead of the device's library, because the library may have no engine for them or the user says
// so.
//
// The kernel (passes/codegen/nest/ConvolutionEmitter.h) takes every shape and type and needs no
// memory; it is slow beside a library.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::decompose {

enum class Direct {
  Necessary, // those that cuDNN may have no engines for
  All
};

// Marks them (dialects/graph/Direct.h) and returns their number. cuDNN has no engines for more than
// three spatial dims and for negative padding, and few for padding that differs at the two ends of
// a dim (none before version 8).
int64_t markDirectConvolutions(mlir::func::FuncOp function, Direct which);

// Registers --cleave-decompose-direct-convolutions.
void registerDirectConvolutionsPass();

} // namespace cleave::decompose
