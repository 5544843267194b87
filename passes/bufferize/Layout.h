// Lowers ops that move elements: layout ops (transpose, reshape, slice, reverse) become views,
// parts of a concat are written where it lies, and a pad is filled around its operand.
#pragma once

#include "passes/bufferize/ValueViews.h"

namespace cleave::bufferize {

// The part of a pad's result that its operand fills.
View insidePad(graph::PadOp op, const View &whole);

// Keeps references to the constructor's arguments.
class LayoutLowering {
public:
  LayoutLowering(ProgramBuilder &program, ValueBuffers &buffers, Destinations &destinations,
                 ValueViews &views)
      : program_(program), buffers_(buffers), destinations_(destinations), views_(views) {}

  // Sets the view of a layout op's result; copies if no strides describe it, or to its destination.
  void lower(mlir::Operation *op);
  // Copy operands that were not written to their places.
  void lower(graph::ConcatOp op);
  void lower(graph::PadOp op);
  // Fills the padding of the buffers that the op, of any kind, writes first.
  void fillPadding(mlir::Operation *op);

  // The tensor whose order in memory decides what a reshape copies from or to; empty for reshapes
  // without copies and for other ops.
  llvm::ArrayRef<cost::Strided> stridedOf(mlir::Operation *op) const;

private:
  ProgramBuilder &program_;
  ValueBuffers &buffers_;
  Destinations &destinations_;
  ValueViews &views_;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<cost::Strided, 1>> strided_;
};

} // namespace cleave::bufferize
