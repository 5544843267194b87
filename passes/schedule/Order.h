// Order: what frees memory runs as soon as it can, so that gradients do not wait for each other.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace cleave::schedule {

// Keeps the order of the step's ops, except that an op runs as early as its operands are there if it
//   (O1) takes less memory for its results than the operands take that it is the last to read, or
//   (O2) writes nothing but new values of arguments, in their place: an update of a parameter and its states.
// No op overtakes another one that reads the old value of an argument which it replaces. Layout ops are views of their
// operand here. The order depends on the program only: it is the same on all ranks.
void orderForMemory(mlir::func::FuncOp step);

// --cleave-schedule-order
std::unique_ptr<mlir::Pass> createOrderPass();
void registerSchedulePasses(); // all of this folder

} // namespace cleave::schedule
