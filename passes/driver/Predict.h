// Predict: predicts the seconds of every instruction by the planner's cost model.
#pragma once

#include "compiler/cluster/Cluster.h"
#include "dialects/interfaces/Sharding.h"
#include "passes/driver/Compile.h"
#include "runtime/artifact/program.pb.h"
#include "runtime/base/KernelWork.h"
#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>
#include <vector>

namespace cleave::driver {

// The work of the kernels of a module, by symbol: that of the op that each computes.
using KernelWorks = std::map<std::string, KernelWork>;
KernelWorks kernelWorks(mlir::ModuleOp module);

// Sets Instruction::seconds in all programs of the plan or outline of a module. `cluster`: as the
// mesh's ranks see it (cluster::forRanks).
void predictInstructions(plan::Plan &plan, mlir::ModuleOp module, const cluster::Cluster &cluster);

// The outline of a compilation after the phase `program`, with the seconds of its instructions.
Result<plan::Plan> predictedOutline(Compilation &c);

// How often a step runs each segment of a program.
std::vector<int64_t> runsOf(const plan::Program &program);

// The predicted seconds of a step.
struct StepSeconds {
  double step = 0;          // makespan of all ranks
  double compute = 0;       // in which rank 0 computes or moves data between host and device
  double communication = 0; // in which it communicates
};

// By the simulation of the plan's programs. With one queue, nothing overlaps, and the makespan is
// the sum of the instructions. A defect if the programs cannot end.
Result<StepSeconds> secondsOfStep(const plan::Plan &plan);

} // namespace cleave::driver
