// The arguments of the step that data sets fill: inputs and labels. One with
//   graph.all_of = "label"
// holds that other input or label of all micro-batches of the step, along its first dim, and is
// the same for all of them.
#pragma once

#include "dialects/graph/Step.h"

namespace cleave::graph {

// The attribute graph.all_of.
inline constexpr llvm::StringLiteral kAllOf = "graph.all_of";

// Whether a data set fills argument i.
bool isFed(mlir::func::FuncOp step, unsigned i);

// The name of the input or label of which argument i holds all micro-batches; empty for others.
llvm::StringRef allOf(mlir::func::FuncOp step, unsigned i);

} // namespace cleave::graph
