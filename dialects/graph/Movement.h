// What the movement ops' files share.
#pragma once

#include "dialects/graph/Types.h"

namespace cleave::graph {

// An op that only moves elements does not change their type.
mlir::LogicalResult verifySameElement(mlir::Operation *op, mlir::Value operand, mlir::Value result);

} // namespace cleave::graph
