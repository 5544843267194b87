// Angles: sines and cosines of large angles.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace cleave::codegen {

// Brings the operands of math.sin and math.cos in single precision to [-pi, pi], so that what
// approximates them is as exact as near 0: within 1e-6 for angles up to 1e5. MLIR's approximations
// subtract a rounded multiple of pi / 2 alone, whose error grows with the angle (1e-3 at 12,000).
void reduceAngles(mlir::ModuleOp module);

} // namespace cleave::codegen
