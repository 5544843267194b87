// Draw: random tensors, which follow from positions in the whole tensor and a key (graph.random), for dropouts and
// random operators.
#pragma once

#include "dialects/graph/Build.h"

namespace cleave::graph {

// Numbers in [0, 1) of float32; `key`, a scalar int64, tells draws apart.
mlir::Value buildDraw(mlir::OpBuilder &b, mlir::Location loc, const Shape &shape, mlir::Value key);

} // namespace cleave::graph
