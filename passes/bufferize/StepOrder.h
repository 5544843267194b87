// StepOrder: the ops of a step in the order in which they run, and what follows from this order
// alone: micro-batches, parts, positions, and the last reader of each value.
#pragma once

#include "dialects/graph/Stage.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <vector>

namespace cleave::bufferize {

class StepOrder {
public:
  explicit StepOrder(mlir::func::FuncOp step) : step_(step) {}
  // Sets everything else. Fails with a diagnostic at an op that stands after an op of a later part.
  mlir::LogicalResult read();

  mlir::func::FuncOp step() const { return step_; }
  // The micro-batches of a step.
  int64_t microBatches() const { return microBatches_; }
  // Whether the step is a stage of a pipeline.
  bool isStage() const { return isStage_; }

  // The ops in the order in which they run, the terminator last.
  llvm::ArrayRef<mlir::Operation *> ops() const { return order_; }
  mlir::Operation *terminator() const { return order_.back(); }
  // The part of the step in which the op runs. The terminator belongs to the update.
  graph::StagePart partOf(mlir::Operation *op) const { return parts_.lookup(op); }
  // The index of the op in ops().
  int positionOf(mlir::Operation *op) const { return position_.lookup(op); }
  // The position of the last op that reads the value or a view of it; -1: there is none.
  int lastUseOf(mlir::Value value) const { return lastUse_.lookup(value); }

  // Ops whose result is a view of their operand, or whose operand may be written to the memory of
  // their result.
  bool isAliasing(mlir::Operation *op) const;
  // Whether an op that runs once per micro-batch, but in no forward part, reads the value or a view
  // of it.
  bool isReadBehindForward(mlir::Value value) const;
  // Whether result i replaces its argument after each micro-batch (dialects/graph/MicroBatches.h).
  bool isReplacedPerMicroBatch(unsigned i) const;

private:
  void findLastUses();

  mlir::func::FuncOp step_;
  int64_t microBatches_ = 1;
  bool isStage_ = false;
  llvm::DenseSet<mlir::Operation *> repeated_; // runs once per micro-batch
  llvm::DenseMap<mlir::Operation *, graph::StagePart> parts_;
  std::vector<mlir::Operation *> order_;
  llvm::DenseMap<mlir::Operation *, int> position_;
  llvm::DenseMap<mlir::Value, int> lastUse_;
};

} // namespace cleave::bufferize
