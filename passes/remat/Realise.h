// Realise: clones the ops of the forward part whose results the backward part recomputes.
//
// It runs before the sharding is planned: the clones are then ops of the step like all others,
// so the planner gives them layouts, prices them with their collectives, and reads their buffers
// from the program; planned memory stays that of the arena.
#pragma once

#include "compiler/planner/remat/RematPolicy.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::remat {

// Clones the ops that are recomputed (RematPolicy::recomputed) as far as the backward part needs
// them, once or once per place, marked by graph::kRecomputed, and lets the readers outside of the
// forward part read the clones. A clone stands directly before its first reader, but before an
// update that replaces an argument which it reads; it is read where the op before which it stands
// may read it. `model` is that of the step. Removes ops, and results of kernel groups, that nothing
// reads any more. Marks by graph::kAway what is kept in other spaces. Returns the number of clones
// and marks.
size_t realise(mlir::func::FuncOp step, const planner::StepModel &model,
               const planner::RematPolicy &policy);

// Registers --cleave-remat-realise.
void registerRematPasses();

} // namespace cleave::remat
