// View: a tensor in a buffer, addressed by strides. Transposes, slices and most reshapes only
// change the view.
#pragma once

#include "compiler/cost/Strides.h"
#include "dialects/program/Program.h"

#include <optional>

namespace cleave::bufferize {

// Element i of the tensor is element offset + sum of i[d] * strides[d] of the buffer.
struct View {
  mlir::Value buffer;                        // of type !program.buffer
  int64_t offset = 0;                        // in elements
  llvm::SmallVector<int64_t> shape, strides; // strides in elements

  // A dense row-major tensor that begins with the buffer.
  static View dense(mlir::Value buffer, llvm::ArrayRef<int64_t> shape);

  // Shape and strides.
  cost::Strided strided() const;
  // The number of elements.
  int64_t size() const;
  // Row-major without gaps (dims of size one may have any stride).
  bool isDense() const;
  bool operator==(const View &) const = default;
  // Whether every element has the same address in both views; strides of dims of size one may
  // differ.
  bool isSamePlace(const View &other) const;

  // Dim i of the result is dim permutation[i].
  View transposed(llvm::ArrayRef<int64_t> permutation) const;
  // `count` elements of a dim from `start` in steps; steps may be negative.
  View sliced(int64_t dim, int64_t start, int64_t step, int64_t count) const;
  // Splits a dim in two, the major one first.
  View split(int64_t dim, int64_t minor) const;
  // The same elements in row-major order with another shape; none if no strides describe them.
  std::optional<View> reshaped(llvm::ArrayRef<int64_t> to) const;

  // The view as an attribute of a kernel or instruction with the buffer at `position` of its
  // buffers.
  program::ViewAttr attribute(int64_t position) const;
};

} // namespace cleave::bufferize
