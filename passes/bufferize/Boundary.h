// StepBoundary: the arguments and results of a step. Arguments become buffers of logical tensors;
// results replace arguments, or become outputs and metrics.
#pragma once

#include "dialects/mesh/MeshDialect.h"
#include "passes/bufferize/Segments.h"
#include "passes/bufferize/ValueViews.h"

namespace cleave::bufferize {

// Keeps references to the constructor's arguments.
class StepBoundary {
public:
  StepBoundary(const StepOrder &order, const StepSegments &segments, ProgramBuilder &program,
               const Mesh &mesh, ValueViews &views)
      : step_(order.step()), order_(order), segments_(segments), program_(program), mesh_(mesh),
        views_(views) {}

  // Adds the buffers of the arguments, and sets their views. Fails with a diagnostic at an argument
  // whose role or sharding is not possible.
  mlir::LogicalResult addArguments();
  // Loads each input of a micro-batch when the forward part of the first chunk that reads it
  // begins.
  void addLoads();
  // Adds the instructions of the results, after those of all ops.
  void addResults();
  // Decides which inputs are loaded before their step, after all instructions have been added.
  void chooseEarlyLoads();

private:
  // The buffer of an argument that is a shared tensor: the shared buffer if the tensor is
  // persistent, a new one if it is an input. Null if the argument is not a shared tensor.
  mlir::FailureOr<mlir::Value> sharedArgument(unsigned i, mlir::Type global, mlir::ArrayAttr split);
  program::SegmentOp replacingSegment(unsigned i) const;
  void addOutput(unsigned i, mlir::Value value);

  mlir::func::FuncOp step_;
  const StepOrder &order_;
  const StepSegments &segments_;
  ProgramBuilder &program_;
  const Mesh &mesh_;
  ValueViews &views_;
};

} // namespace cleave::bufferize
