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

  // Sets the view of a layout op's result. Copies if no strides describe it, or if it has a
  // destination.
  void lower(mlir::Operation *op);
  // Copy operands that were not written to their places.
  void lower(graph::ConcatOp op);
  void lower(graph::PadOp op);
  // Fills the padding of the buffers of which this op is the first writer.
  void fillPadding(mlir::Operation *op);

  // The tensors whose strides determine the seconds of a reshape's copies; empty for reshapes
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
