// Recognised: counts the composites of a step, for remarks and tests.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <string>

namespace cleave::simplify {

// The number of each composite op by name and flags (`gelu`, `gelu tanh`, `attention causal`), of
// gathers from a parameter (`embedding`) and of gated linear units (`swiglu`).
std::map<std::string, int64_t> recognisedIn(mlir::func::FuncOp step);

// The same as text: `5 layer_norm, 2 gelu tanh`; empty if there are none.
std::string recognisedText(mlir::func::FuncOp step);

} // namespace cleave::simplify
