// Verification that the movement ops share.
#pragma once

#include "dialects/graph/Types.h"

namespace cleave::graph {

// Verifies that operand and result have the same element type.
mlir::LogicalResult verifySameElement(mlir::Operation *op, mlir::Value operand, mlir::Value result);

} // namespace cleave::graph
