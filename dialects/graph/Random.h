// Counter-based random number generation: every element is a function of its row-major position in
// the whole tensor and of a key (graph.random), so it does not depend on the number of ranks. Used
// by dropouts, whose shared parts are here, and by random operators.
#pragma once

#include "dialects/graph/Build.h"

namespace cleave::graph {

// A block of a tensor: its first index in dim dims[i] of the whole tensor is offsets[i], a scalar
// i64, and 0 in other dims. `whole` are the sizes of the whole tensor. By default the whole tensor.
struct BlockPosition {
  mlir::ValueRange offsets;
  llvm::ArrayRef<int64_t> dims, whole;
};

// A float32 tensor of uniform random numbers in [0, 1). `key` is a scalar i64; different keys give
// independent tensors.
mlir::Value buildUniform(mlir::OpBuilder &b, mlir::Location loc, const Shape &shape,
                         mlir::Value key, const BlockPosition &block = {});

// The factor of the element at this row-major position in a dropout of this rate and seed: 0 or
// 1 / (1 - rate).
double dropFactor(double rate, double seed, int64_t position);
// `operand`, or a block of it, times these factors: the decomposition of a dropout.
mlir::Value buildDropped(mlir::OpBuilder &b, mlir::Location loc, mlir::Value operand,
                         mlir::Value seed, double rate, const BlockPosition &block = {});

// Adds the memory effect that keeps CSE from merging dropouts that have no seed yet
// (Graph_DroppingOp in GraphBase.td).
using MemoryEffectList =
    llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>;
void addDropoutEffects(DropoutInterface op, MemoryEffectList &effects);

} // namespace cleave::graph
