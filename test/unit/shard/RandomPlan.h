// Random valid plans: any layout for every argument, any way of splitting every op that its
// operands can be brought to.
#pragma once

#include "compiler/cluster/Cluster.h"
#include "compiler/planner/report/PlanReport.h"

#include <random>

namespace cleave::test {

planner::PlanReport randomPlan(const planner::StepModel &model, const cluster::Cluster &cluster,
                               const Mesh &mesh, std::mt19937 &random);

} // namespace cleave::test
