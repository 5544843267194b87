// InParts: the cost network of a coarser mesh (Meshes.h), with its choices on the finer one.
#pragma once

#include "compiler/planner/network/PlanProblem.h"

namespace cleave::planner {

// The choices of a network on a coarser mesh as choices on the finer one; prices and numbers of
// layouts stay those of the coarser mesh.
PlanProblem inParts(PlanProblem problem, const std::vector<std::vector<int>> &parts);

} // namespace cleave::planner
