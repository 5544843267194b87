// Buffers of a step before kernels are formed, and their lifetimes.
#pragma once

#include "compiler/profile/Profile.h"
#include "compiler/profile/StepPart.h"

#include "llvm/ADT/DenseSet.h"

namespace cleave::profile {

// The buffers of a step's values.
class Buffers {
public:
  explicit Buffers(mlir::func::FuncOp step);

  // The value whose buffer holds `value`: itself, or the value that it is a view of. Null for
  // values without a buffer: broadcasts and constants.
  mlir::Value of(mlir::Value value) const { return of_.lookup(value); }

  // Whether the op depends on sizes only, not on an argument of the step. The compiler folds such
  // ops once sizes are known, so they are free.
  bool isConstant(mlir::Operation *op) const { return constants_.contains(op); }

private:
  llvm::DenseMap<mlir::Value, mlir::Value> of_;
  llvm::DenseSet<mlir::Operation *> constants_;
};

// The candidates for the largest number of bytes live at one time, largest first by an estimate.
// Parameters, states, inputs and constants are live at all times.
std::vector<Peak> peaksOf(mlir::func::FuncOp step, const Buffers &buffers);

} // namespace cleave::profile
