// States that are replaced after each micro-batch: those that the model's `forward` writes. Others,
// such as the states of the optimizer, are replaced after a step.
#pragma once

#include "dialects/graph/Step.h"

namespace cleave::graph {

// The attribute of a state argument that is replaced after each micro-batch, a unit.
// perMicroBatch() contains the ops that compute its values.
inline constexpr llvm::StringLiteral kPerMicroBatch = "graph.per_micro_batch";

// Whether result i replaces its argument after each micro-batch, so that the next one reads the new
// value: the argument has the attribute, or an op of `repeated`, which is perMicroBatch(), computes
// the result.
bool isReplacedPerMicroBatch(mlir::func::FuncOp step, unsigned i,
                             const llvm::DenseSet<mlir::Operation *> &repeated);

} // namespace cleave::graph
