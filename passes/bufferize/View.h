// View: a tensor in a buffer, addressed by strides. Transposes, slices and most reshapes only change the view.
#pragma once

#include "dialects/program/Program.h"

#include <optional>

namespace cleave::bufferize {

struct View {
  mlir::Value buffer; // of type !program.buffer
  int64_t offset = 0; // elements
  llvm::SmallVector<int64_t> shape, strides;

  // A dense row-major tensor that begins with the buffer.
  static View dense(mlir::Value buffer, llvm::ArrayRef<int64_t> shape);

  int64_t size() const;
  // Row-major without gaps (dims of size one may have any stride).
  bool isDense() const;
  bool operator==(const View &) const = default;
  // Whether every element lies where the other view has it (strides of dims of size one do not matter).
  bool isSamePlace(const View &other) const;

  // Dim i of the result is dim permutation[i].
  View transposed(llvm::ArrayRef<int64_t> permutation) const;
  // `count` elements of a dim from `start` in steps; steps may be negative.
  View sliced(int64_t dim, int64_t start, int64_t step, int64_t count) const;
  // A dim cut in two, the major one first.
  View split(int64_t dim, int64_t minor) const;
  // The same elements in row-major order under another shape; nothing if strides cannot say it.
  std::optional<View> reshaped(llvm::ArrayRef<int64_t> to) const;

  // As an attribute of a kernel or instruction whose list of buffers has this one at `position`.
  program::ViewAttr attribute(int64_t position) const;
};

} // namespace cleave::bufferize
