// ColumnParts: on GPUs, sums over many rows are taken in two steps: a kernel sums each part of the
// rows, and one kernel per result adds the parts.
//
// A kernel that reduces rows to columns has a block of threads per few columns, too few to fill a
// GPU. Splitting the rows into parts multiplies the blocks. The number of parts follows from local
// sizes. The ops of the step stay as they are, so that no group or decision depends on the parts.
#pragma once

#include "dialects/graph/Graph.h"

#include <optional>

namespace cleave::bufferize {

// Neighbouring dims of the rows, seen as one dim, which is split into `parts` equal parts.
struct ColumnParts {
  llvm::SmallVector<int> factors; // of the group's iteration space: these dims, major to minor
  int64_t parts = 1;
  int64_t size = 1; // of the dims together, a multiple of `parts`
};

// The parts of a group that reduces long columns; none if it reduces nothing to columns, has enough
// blocks, or has no row dims that can be split in all its values. `fits`: whether the views of its
// operands and results can be split into these parts.
using Fits = llvm::function_ref<bool(const ColumnParts &)>;
std::optional<ColumnParts> columnPartsOf(graph::FusionOp fusion, Fits fits);

// The shape of an operand or result of the group after the split.
llvm::SmallVector<int64_t> shapeInParts(graph::FusionOp fusion, const ColumnParts &parts,
                                        mlir::Value value);

// The two steps, built before the group; the caller erases them with the reshapes of operands.
struct PartialSums {
  graph::FusionOp first;                     // with the operands and results of the group, split
  llvm::SmallVector<graph::FusionOp> second; // per result; null: the first step gives it
};
PartialSums inParts(graph::FusionOp fusion, const ColumnParts &parts);

} // namespace cleave::bufferize
