// Affine: integer tensors whose elements are affine in their indices, such as positions and offsets
// of rows. Sizes may be symbolic.
#pragma once

#include "dialects/graph/Graph.h"

namespace cleave::simplify {

// element[i0, i1, …] = constant + steps[0] i0 + steps[1] i1 + …; the step along a dim of size one
// is 0.
struct Affine {
  Polynomial constant;
  llvm::SmallVector<Polynomial> steps;

  // Whether all elements are equal.
  bool isConstant() const {
    return llvm::all_of(steps, [](const Polynomial &step) { return step == Polynomial(); });
  }
};

// The affine form of a value, found through arithmetic and movement ops up to a limited depth; none
// if there is none.
std::optional<Affine> affineOf(mlir::Value value);

// lhs - rhs of values of one shape.
Affine difference(const Affine &lhs, const Affine &rhs);

// Bounds of all elements of a tensor; none where a bound is unknown. Symbols are taken to be at
// least
// 2.
struct Range {
  std::optional<int64_t> least, greatest;
};
Range rangeOf(const Affine &affine, const graph::Shape &shape);

} // namespace cleave::simplify
