// Planner: from a step whose recomputation is decided, and a cluster, to a PlanReport. The best
// layouts of all meshes (MeshSearch.h), or those of a solution or of another plan, with the account
// of their time and memory and the reasons for them.
#pragma once

#include "compiler/cluster/Cluster.h"
#include "compiler/planner/report/PlanReport.h"
#include "compiler/planner/search/PlannerOptions.h"

namespace cleave::planner {

// The best plan found. Infeasible if no plan fits: the message states how many bytes are missing
// and the largest nodes. A user error if options contradict each other or the step.
Result<PlanReport> planStep(const StepModel &model, const cluster::Cluster &cluster,
                            const TrialOptions &options);

// The network of the step within the budget, on the mesh that is given, as --solution reads it:
// with the listed choices only. A user error without a mesh.
Result<solver::Problem> networkOf(const StepModel &model, const cluster::Cluster &cluster,
                                  const PlannerOptions &options);

// The plan that a solution of networkOf() stands for, a choice per node. A user error if it is one
// of another network; infeasible if choices are forbidden, or if they or their program exceed the
// budget, with the first violations. Its bound is that of the mesh without a limit of memory.
Result<PlanReport> planOf(const StepModel &model, const cluster::Cluster &cluster,
                          const TrialOptions &options, const std::vector<int> &choices);

// The plan of a step with recomputed ops, on the mesh of `around` and without a budget, in which
// all other ops keep these decisions on the step `before` without them (Around.h). Its memory is
// read from its program; its lower bound is not set. Infeasible if the recomputed ops cannot use
// these decisions.
Result<PlanReport> planAround(const StepModel &model, const cluster::Cluster &cluster,
                              const TrialOptions &options, const StepModel &before,
                              const Decisions &around);

} // namespace cleave::planner
