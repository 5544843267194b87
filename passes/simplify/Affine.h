// Affine: tensors of whole numbers whose elements follow from their own indices: positions, offsets of rows, and what is
// computed of them. Sizes may be symbols.
#pragma once

#include "dialects/graph/Graph.h"

namespace cleave::simplify {

// element[i0, i1, …] = constant + steps[0] i0 + steps[1] i1 + …; the step along a dim of size one is 0.
struct Affine {
  Polynomial constant;
  llvm::SmallVector<Polynomial> steps;

  bool isConstant() const {
    return llvm::all_of(steps, [](const Polynomial &step) { return step == Polynomial(); });
  }
};

// What is known of a value through arithmetic and moves, up to a limited depth; none for other values.
std::optional<Affine> affineOf(mlir::Value value);

// lhs - rhs of values of one shape.
Affine difference(const Affine &lhs, const Affine &rhs);

// Numbers between which all elements of a tensor of this shape lie, as far as they can be told; symbols are at least 2.
struct Range {
  std::optional<int64_t> least, greatest;
};
Range rangeOf(const Affine &affine, const graph::Shape &shape);

} // namespace cleave::simplify
