// LeastMemory: the least memory of a rank in which a plan is found (--memory least), and the memory
// that a refusal names.
//
// Plans in tight memory are found by a search, which may succeed in less memory than where it
// failed. An amount is therefore named only after a plan was found in it.
#pragma once

#include "compiler/planner/search/PlannedStep.h"

#include <functional>
#include <string>

namespace cleave::planner {

// The plan in the least memory.
struct LeastMemory {
  int64_t bytes = 0; // of one rank: searchPlan finds a plan in them, and none in 99 % of them
  PlannedStep planned;
  std::string remark;
};

// Looks for the least memory by halves, in a limited number of plans, whatever the budget of
// `options` is, and tells the result of each. Errors as of searchPlan.
Result<LeastMemory> leastMemory(const Step &step, const cluster::Cluster &cluster,
                                PlannerOptions options,
                                const std::function<void(const std::string &)> &tell);

// searchPlan, where a refusal names an amount of memory only if searchPlan finds a plan in it.
Result<PlannedStep> searchOrRefuse(const Step &step, const cluster::Cluster &cluster,
                                   PlannerOptions options);

} // namespace cleave::planner
