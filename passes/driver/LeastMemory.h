// LeastMemory: the least memory of a rank in which a plan is found (--memory least), and the memory
// that a refusal names.
//
// Plans in tight memory are found by a search, which may succeed in less memory than where it
// failed. An amount is therefore named only after a plan was found in it.
#pragma once

#include "passes/driver/DecideStep.h"

#include <functional>

namespace cleave::driver {

// The plan in the least memory.
struct LeastMemory {
  int64_t bytes = 0; // decideStep finds a plan in so many bytes of one rank, and none in 99 % of it
  Decided decided;
  std::string remark;
};

// Looks for the least memory by halves, in a limited number of plans, whatever the budget of
// `options` is, and tells the result of each. Errors as of decideStep. `module` is what the phase
// `primitive` leaves.
Result<LeastMemory> leastMemory(mlir::ModuleOp module, const cluster::Cluster &cluster,
                                planner::PlannerOptions options,
                                const std::function<void(const std::string &)> &tell);

// decideStep, where what a refusal says is needed suffices: decideStep finds a plan in it.
Result<Decided> decideOrRefuse(mlir::ModuleOp module, const cluster::Cluster &cluster,
                               planner::PlannerOptions options);

} // namespace cleave::driver
