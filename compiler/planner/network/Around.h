// Around: plans of a step with recomputed ops in which all other ops keep the decisions of a plan
// of the step without them. Only recomputed ops and copies are left to decide, which takes little
// time.
#pragma once

#include "compiler/planner/choices/Decisions.h"
#include "compiler/planner/network/PlanProblem.h"

namespace cleave::planner {

// Forbids all choices but those of `around`, decisions on the step `before`, to the arguments of
// `problem`, the network of `model`, and to its ops that are not recomputed ones. Ops that changed,
// since recomputed ops compute some of their results, stay free.
void keepAround(PlanProblem &problem, const StepModel &model, const StepModel &before,
                const Decisions &around);

} // namespace cleave::planner
