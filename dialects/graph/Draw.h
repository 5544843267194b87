// Draw: random tensors, which follow from positions in the whole tensor and a key (graph.random), for dropouts, of which
// it has what all ops that drop share, and for random operators.
#pragma once

#include "dialects/graph/Build.h"

namespace cleave::graph {

// Numbers in [0, 1) of float32; `key`, a scalar int64, tells draws apart.
mlir::Value buildDraw(mlir::OpBuilder &b, mlir::Location loc, const Shape &shape, mlir::Value key);

// The factor that a dropout of this rate and seed gives the element at this row-major position: 0 or 1 / (1 - rate).
double dropFactor(double rate, double seed, int64_t position);
// What a dropout with a seed builds: its operand times such factors.
mlir::Value buildDropped(mlir::OpBuilder &b, DropoutOp op);

// What keeps ops apart that drop and have no seed yet (GraphBase.td, Graph_DroppingOp).
using MemoryEffectList =
    llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>;
void addDropoutEffects(DropoutInterface op, MemoryEffectList &effects);

} // namespace cleave::graph
