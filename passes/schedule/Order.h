// Order: the order of the step's ops, decided before planning. Ops that free memory run as soon as
// their operands are computed, so that gradients are not all alive at once. Everything after
// planning keeps the order and inserts its own ops.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::schedule {

// Moves the ops that run once per step behind those that run once per micro-batch, and all-gathers
// directly before their first readers: what they make is larger than what they read.
void orderParts(mlir::func::FuncOp step);

// Calls orderParts(). Within each part, keeps the order of the step's ops, except that an op runs
// as soon as its operands are computed if
//   (O1) its results take less memory than the operands of which it is the last reader, or
//   (O2) all its results replace arguments in place: an update of a parameter and its states. No op
//        overtakes a reader of the old value of an argument that it replaces. Layout ops count as
//        views of their operand. The order depends on the program only: it is the same on all
//        ranks.
void orderForMemory(mlir::func::FuncOp step);

// Registers --cleave-schedule-order.
void registerOrderPass();

} // namespace cleave::schedule
