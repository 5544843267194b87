// Buffers of a step before kernels are formed, and how long they live.
#pragma once

#include "compiler/profile/Profile.h"
#include "compiler/profile/StepPart.h"

#include "llvm/ADT/DenseSet.h"

namespace cleave::profile {

// Which buffer holds a value.
class Buffers {
public:
  explicit Buffers(mlir::func::FuncOp step);

  // The value whose buffer holds `value`: itself, or what it renames. Null where it takes none:
  // broadcasts, and constants.
  mlir::Value of(mlir::Value value) const { return of_.lookup(value); }

  // Whether the op depends on no argument of the step, only on sizes. With numbers the compiler folds
  // it, so it costs nothing with symbols either.
  bool isConstant(mlir::Operation *op) const { return constants_.contains(op); }

private:
  llvm::DenseMap<mlir::Value, mlir::Value> of_;
  llvm::DenseSet<mlir::Operation *> constants_;
};

// The most bytes that are live at one time. Parameters, states, inputs and constants live always.
std::vector<Peak> peaksOf(mlir::func::FuncOp step, const Buffers &buffers);

} // namespace cleave::profile
