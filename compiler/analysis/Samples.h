// Samples: where values have the samples of the batch, and where samples meet.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace cleave::analysis {

// Follows the samples, which are the elements of the first dim of inputs, by the factor rules of
// the ops. An element of a value depends on one sample, on none if it does not follow from inputs,
// or on several: a mean over the batch, scores between samples, or what an op without a rule
// computes. Inputs of unknown size are left out: plans have none.
class Samples {
public:
  explicit Samples(mlir::func::FuncOp step);

  // The op that combined the samples on which an element of the value depends; null if every
  // element depends on at most one sample.
  mlir::Operation *meetingOf(mlir::Value value) const { return meetings_.lookup(value); }

private:
  // The samples are the middle of the three factors `outer` x `count` x the rest of a dim.
  struct Place {
    size_t dim;
    int64_t outer, count;
  };

  void follow(mlir::Operation *op);
  bool followBy(mlir::Operation *op, bool &isAny);

  llvm::DenseMap<mlir::Value, Place> places_; // of values whose elements belong to one sample each
  llvm::DenseMap<mlir::Value, mlir::Operation *> meetings_;
};

} // namespace cleave::analysis
