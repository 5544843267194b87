// ValueViews: where each value of the step lies. Also which values a buffer holds one after the
// other, and when it is read for the last time.
#pragma once

#include "passes/bufferize/DenseCopy.h"
#include "passes/bufferize/Destinations.h"
#include "passes/bufferize/StepOrder.h"
#include "passes/bufferize/ValueBuffers.h"

namespace cleave::bufferize {

// Keeps references to the constructor's arguments. Copies are instructions of the current segment.
class ValueViews {
public:
  ValueViews(const StepOrder &order, ProgramBuilder &program, ValueBuffers &buffers,
             const Destinations &destinations)
      : order_(order), program_(program), buffers_(buffers), destinations_(destinations) {}

  // The view of a value; null if it has none yet.
  const View *find(mlir::Value value) const;
  // The view of a value; constants with all elements equal get a buffer on first use.
  View of(mlir::Value value);
  // The view of a value, copied unless it is a whole buffer with its dims in this order, from major
  // to minor; an empty order is row-major.
  View wholeOf(mlir::Value value, llvm::ArrayRef<int64_t> order = {});
  // The view of a value, copied if a stride is negative.
  View forwardOf(mlir::Value value);

  // The view that a result is written to: its destination, or a new buffer.
  View resultView(mlir::Value result);
  // A whole buffer in this order, to which a result is written; finishWhole() copies it to the
  // destination if that is another view, or to the order that was chosen for the result.
  View wholeResult(mlir::Value result, llvm::ArrayRef<int64_t> order = {});
  void finishWhole(mlir::Value result, const View &made);
  // The destination of a value; null if it has none.
  const View *destinationOf(mlir::Value value) const { return destinations_.find(value); }

  // Sets the view of a value that the buffer now holds.
  void set(mlir::Value value, View view);
  // Sets the view of a value that the buffer does not hold, such as a summand in the place of its
  // sum: it neither becomes a tenant nor counts for the last use.
  void setWithoutTenancy(mlir::Value value, View view) { views_[value] = std::move(view); }
  // Adds the value to the tenants of the view's buffer, if it fills the buffer and is the first or
  // computed in place.
  void moveIn(mlir::Value value, const View &view);
  // The values that fill a buffer, one after the other: the first moves in when it is made, others
  // are computed in place. Values that are views of these, or lie in a part of the buffer, are left
  // out. Empty for buffers that serve a single op.
  llvm::ArrayRef<mlir::Value> tenantsOf(mlir::Value buffer) const;

  // Marks a buffer that holds its values throughout the step.
  void setNeverFree(mlir::Value buffer) { neverFree_.insert(buffer); }
  bool isNeverFree(mlir::Value buffer) const { return neverFree_.contains(buffer); }
  // Whether nothing reads the view's buffer after the op.
  bool diesAt(const View &view, mlir::Operation *op) const;

private:
  const StepOrder &order_;
  ProgramBuilder &program_;
  ValueBuffers &buffers_;
  const Destinations &destinations_;
  llvm::DenseMap<mlir::Value, View> views_;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 1>> tenants_; // per buffer
  llvm::DenseMap<mlir::Value, int> bufferLastUse_; // per buffer, over all values in it
  llvm::DenseSet<mlir::Value> neverFree_;
};

} // namespace cleave::bufferize
