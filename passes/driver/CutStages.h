// CutStages: cuts the model of a pipeline into chunks (--stages), and corrects the seconds by which
// it is cut once a plan shows what the chunks take.
#pragma once

#include "passes/driver/Compile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::driver {

// Cuts the forward step into the chunks of the schedule: those of --cut, else such that the slowest
// one takes the least time, by the seconds of `c.cut`. If it has none, they are those that each op
// takes on one GPU, which leaves out what the plan decides: collectives, recomputation, and what
// fusion saves. On CPUs, FLOPs count alone: borders that follow the products keep the ops of a
// layer together. A product that reads a message instead of what a kernel wrote may read it in
// another layout, for which oneDNN has a kernel with other last bits. Sets `c.cut`.
Status cutModel(Compilation &c, mlir::func::FuncOp step);

// Corrects the seconds of `c.cut` by the programs of the phase `program`: each chunk gets the share
// of the total that its parts take of a micro-batch. Nothing on CPUs, with --cut, or if the busiest
// stage takes hardly longer than the mean.
Result<std::optional<std::vector<double>>> secondsByPlan(Compilation &c);

} // namespace cleave::driver
