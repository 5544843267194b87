// What a step has of composites, for remarks and tests.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <string>

namespace cleave::simplify {

// How many there are of each composite op, by name and flags (`gelu`, `gelu tanh`, `attention causal`), of rows looked
// up in a parameter (`embedding`) and of gated linear units (`swiglu`).
std::map<std::string, int64_t> recognisedIn(mlir::func::FuncOp step);

// The same as `5 layer_norm, 2 gelu tanh`; empty where there is nothing.
std::string recognisedText(mlir::func::FuncOp step);

} // namespace cleave::simplify
