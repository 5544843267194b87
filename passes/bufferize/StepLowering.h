// StepLowering: turns the step's ops, in the order in which they run, into instructions.
//
// Its parts know one thing each: StepOrder the order of the ops, StepSegments the segments,
// ValueBuffers the layout of new buffers, Destinations the places planned for results, ValueViews
// where values lie, and the lowerings how a family of ops becomes instructions.
#pragma once

#include "passes/bufferize/Collectives.h"
#include "passes/bufferize/Coordinates.h"
#include "passes/bufferize/Layout.h"
#include "passes/bufferize/Products.h"

namespace cleave::bufferize {

// Keeps a reference to the program.
class StepLowering {
public:
  // Arguments that are shared tensors of the program have their buffers.
  StepLowering(mlir::func::FuncOp step, ProgramBuilder &program);
  StepLowering(const StepLowering &) = delete;
  // Adds all instructions; fails with a diagnostic at an op that has none.
  mlir::LogicalResult run();

  // How often a step runs a segment.
  int64_t runsOf(program::SegmentOp segment) const { return segments_.runsOf(segment); }
  // The ops in the order in which they run, the terminator last.
  llvm::ArrayRef<mlir::Operation *> order() const { return order_.ops(); }
  // See ValueViews.
  llvm::ArrayRef<mlir::Value> tenantsOf(mlir::Value buffer) const {
    return views_.tenantsOf(buffer);
  }
  // The tensors whose order in memory decides what a product (operands and result) copies, or that
  // a reshape copies from or to; empty for reshapes without copies and for other ops.
  llvm::ArrayRef<cost::Strided> stridedOf(mlir::Operation *op) const;

private:
  // Leaves the op to the lowering of its family.
  mlir::LogicalResult lower(mlir::Operation *op);
  void lowerConstant(graph::ConstantOp op);
  void markAway();

  ProgramBuilder &program_;
  Mesh mesh_; // empty without a mesh
  // Each refers to some of those before it.
  StepOrder order_;
  StepSegments segments_;
  ValueBuffers buffers_;
  Destinations destinations_;
  ValueViews views_;
  GpuLibraries libraries_;
  MicroBatchSums sums_;
  LayoutLowering layout_;
  ProductLowering products_;
  CollectiveLowering collectives_;
  CoordinateLowering coordinates_;
};

} // namespace cleave::bufferize
