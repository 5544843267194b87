// GroupNest: the loops of a kernel group as plain data, decided before any code is emitted.
//
// Three shapes of nest cover all groups. P are the parallel factors, R the reduced ones:
//   Pointwise  R is empty: the innermost factor is the vector loop, the others are the parallel
//              range; where an operand is contiguous in another factor, both go in tiles
//   Rows       the contiguous factor is reduced: for every point of P one or more passes over R
//              (softmax, layer norm, loss). On GPUs, the group may also sum columns (gradients of
//              norms): the factors S that these sums reduce are not in P, and each point of P
//              sweeps over S
//   Columns    the contiguous factor is kept: accumulators for a range of columns, one pass over R
//              (bias gradients)
#pragma once

#include "dialects/graph/Graph.h"
#include "dialects/program/Program.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace cleave::codegen {

// The address of a value's elements: offset and strides per factor of the nest, 0 for a factor that
// the value does not have.
struct Access {
  int64_t argument = 0; // index among the kernel's arguments
  int64_t offset = 0;   // elements
  llvm::SmallVector<int64_t> strides;
  mlir::Type element;
};

// The loops of one kernel.
struct GroupNest {
  enum class Kind { Pointwise, Rows, Columns };
  Kind kind = Kind::Pointwise;
  llvm::SmallVector<int64_t> sizes; // per factor; factors that all values have together are merged
  llvm::SmallVector<int> outer;     // the parallel range, major to minor
  int inner = -1; // Pointwise and Columns: the contiguous factor, -1: the group is one scalar
  // Pointwise: the factor of `outer` in which an operand is contiguous that `inner` strides through
  // (a transpose), -1: none. The parallel range counts it in tiles of kTile.
  int across = -1;
  llvm::SmallVector<int> reduced;         // R, major to minor
  llvm::SmallVector<int> swept;           // Rows: S, major to minor
  llvm::DenseSet<mlir::Value> columnSums; // Rows: the results that reduce S
  bool rereadsRows = false;           // Rows: elements of a row depend on a reduction of the row
  llvm::SmallVector<Access> operands; // per block argument
  llvm::SmallVector<Access> results;  // per yielded value
  llvm::DenseMap<mlir::Value, uint64_t> factors; // per value its factors, as a bit set
  llvm::DenseMap<mlir::Value, int> iota;         // of an iota, the factor that it counts
  // Per value the number of passes over R that must end before it can be computed.
  llvm::DenseMap<mlir::Value, int> stage;

  // Factors of the loops inside the parallel range.
  uint64_t innerFactors() const;
  bool hasInner(mlir::Value value) const { return (factors.lookup(value) & innerFactors()) != 0; }
  // The size of the kernel's parallel range. Columns without outer factors are split in units of
  // kColumnUnit.
  int64_t extent() const;
  // The sizes of the parallel range, in the order of `outer`.
  llvm::SmallVector<int64_t> outerSizes() const;
  int64_t size(llvm::ArrayRef<int> factors) const;
};

// Elements of a row in one unit of work of kind Columns.
inline constexpr int64_t kColumnUnit = 16;
// The side of a tile in elements. As many rows stay in the first-level cache even if all of them
// map to one of its sets.
inline constexpr int64_t kTile = 8;

// The nest of a kernel whose computation is a graph.fusion. Emits an error and fails if its ops
// share no nest. `maySweep`: whether a nest of Rows may have column sums.
mlir::FailureOr<GroupNest> groupNestOf(program::KernelOp kernel, bool maySweep = false);

} // namespace cleave::codegen
