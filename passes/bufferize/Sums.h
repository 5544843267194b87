// MicroBatchSums: sums over micro-batches, to which a kernel or the product that makes a summand
// adds in every micro-batch.
#pragma once

#include "passes/bufferize/Segments.h"
#include "passes/bufferize/ValueViews.h"

namespace cleave::bufferize {

// Keeps references to the constructor's arguments.
class MicroBatchSums {
public:
  MicroBatchSums(const StepOrder &order, const StepSegments &segments, ProgramBuilder &program,
                 ValueViews &views)
      : order_(order), segments_(segments), program_(program), views_(views) {}

  // The sum to which the product can add its result at once; null if there is none.
  graph::AccumulateOp sumOf(graph::DotGeneralOp op) const;
  // Adds the buffer of a sum to which a product adds its result.
  View addForProduct(graph::AccumulateOp op);
  // sum += operand in every micro-batch, unless the product that makes the operand has added it.
  void lower(graph::AccumulateOp op);

private:
  // A buffer for the sum, cleared at the beginning of the step.
  View newSum(graph::AccumulateOp op);

  const StepOrder &order_;
  const StepSegments &segments_;
  ProgramBuilder &program_;
  ValueViews &views_;
  llvm::DenseMap<mlir::Operation *, View> ofProducts_; // by the accumulate op
};

} // namespace cleave::bufferize
