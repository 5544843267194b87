// FateRemarks: what is kept for the backward pass and what is computed again, each value with its
// bytes and seconds.
#pragma once

#include "compiler/planner/Costs.h"
#include "compiler/planner/Plan.h"

namespace cleave::planner {

// The repetitions of a step, with their worth under these decisions.
std::vector<Repetition> repetitionsOf(Costs &costs, const Decisions &decisions);

// One remark per op of the forward part that the backward part reads (kind `kept`: bytes of one
// rank, the part of the step's clock during which they wait, and the seconds of computing them
// again), and per repetition (kind `again`: bytes and seconds per step). The plan's repetitions are
// set.
std::vector<PlanRemark> remarksOnFates(Costs &costs, const Plan &plan);

} // namespace cleave::planner
