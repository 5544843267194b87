// Planner: from a step and a cluster to a Plan. Tries meshes, builds the cost network of each
// (PlanProblem.h), solves it, and explains the best solution.
#pragma once

#include "compiler/cluster/Cluster.h"
#include "compiler/planner/choices/Pins.h"
#include "compiler/planner/report/Plan.h"
#include "compiler/planner/search/Fit.h"
#include "compiler/solver/Solver.h"

#include <functional>

namespace cleave::planner {

// The solver's limits for plans, lower than its own defaults: where memory binds, the benchmark GPT
// is planned in a fifth of the time and its gap grows from 0.32 % to 0.36 %; where memory does not
// bind, the gap closes before either limit. Plans that are 0.01 % faster are not sought.
inline solver::SolveOptions defaultLimits() {
  solver::SolveOptions options;
  options.maxIterations = 40;
  options.maxSearchRounds = 20;
  options.maxBranches = 20;
  options.goodGap = 1e-4;
  return options;
}

// A bound that is known of all plans of interest.
struct Proven {
  double seconds = 0;                          // no plan is faster
  std::vector<std::pair<Mesh, double>> meshes; // and no plan on these
};

// Options of planStep.
struct PlannerOptions {
  int64_t ranks = 1;
  int64_t nodeRanks = 1; // of one node, for the default mesh of pins
  // Empty: the pins' default mesh, else chosen among candidateMeshes(). Without pins, the plan on a
  // given mesh is at least as good as those on all coarserMeshes().
  std::optional<Mesh> mesh;
  // The planner chose `mesh` before: axes get the names that they have if no mesh is given.
  bool isOwnMesh = false;
  Budget budget = Budget::unlimited();          // of one rank
  OtherSpaces spaces;                           // of one rank
  Pins pins;                                    // restrictions by the user
  solver::SolveOptions solve = defaultLimits(); // of each network
  ChoiceLimits choices;                         // that networks list one by one
  WhenTooLarge whenTooLarge = WhenTooLarge::Explain;
  // Plans within the budget that take at least as many seconds are not searched.
  double cutoffSeconds = solver::kForbidden;
  // Takes the place of the bound on plans of this step: with other repetitions there may be faster
  // ones.
  std::optional<Proven> proven;
  // searchPlan takes the first plan that fits instead of the best one. Whether it finds one
  // does not depend on that.
  bool isAnyEnough = false;
  // Called with the bytes of the smallest program found if none fits. May be empty.
  std::function<void(int64_t)> onTooLarge;
  // The memory of a plan's program. Empty: the peak of the cost network stands for it.
  MemoryOf memoryOf;
  size_t maxReasons = 12; // kinds of ops in Plan::reasons, besides all parameters
  // Called with every network before it is solved; a failure ends the planning. May be empty.
  std::function<Status(const Mesh &, const solver::Problem &)> onNetwork;
};

// The meshes that plans are searched on, without coarser ones (Meshes.h): the one that was asked
// for, or that of the pins, or candidateMeshes().
std::vector<Mesh> meshesToTry(const PlannerOptions &options);

// Whether the axes of the plan are named by what it splits over them (AxisUse.h): the user gave
// neither a mesh nor pins that have one or name an axis.
bool namesByUse(const PlannerOptions &options);

// The options for plans on one mesh only, whose axes are named as if it were not given.
PlannerOptions onMesh(PlannerOptions options, const Mesh &mesh);

// The best plan found. Infeasible if no plan fits: the message states how many bytes are missing
// and the largest nodes. A user error if options contradict each other or the step.
Result<Plan> planStep(const StepModel &model, const cluster::Cluster &cluster,
                      const PlannerOptions &options);

// The network of the step within the budget, on the mesh that is given, as --solution reads it:
// with the listed choices only. A user error without a mesh.
Result<solver::Problem> networkOf(const StepModel &model, const cluster::Cluster &cluster,
                                  const PlannerOptions &options);

// The plan that a solution of networkOf() stands for, a choice per node. A user error if it is one
// of another network; infeasible if choices are forbidden, or if they or their program exceed the
// budget, with the first violations. Its bound is that of the mesh without a limit of memory.
Result<Plan> planOf(const StepModel &model, const cluster::Cluster &cluster,
                    const PlannerOptions &options, const std::vector<int> &choices);

// The plan of a step with repetitions, on the mesh of `around` and without a budget, in which all
// other ops keep these decisions on the step `before` without repetitions (Around.h). Its memory is
// read from its program; its bound is that of nothing. Infeasible if these decisions do not go with
// the repetitions.
Result<Plan> planAround(const StepModel &model, const cluster::Cluster &cluster,
                        const PlannerOptions &options, const StepModel &before,
                        const Decisions &around);

} // namespace cleave::planner
