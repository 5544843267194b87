// PlannerOptions: the question to the planner; TrialOptions: what a search adds to it.
#pragma once

#include "compiler/planner/choices/Pins.h"
#include "compiler/planner/search/Fit.h"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace cleave::planner {

struct PlanReport;

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
  size_t maxReasons = 12; // kinds of ops in PlanReport::reasons, besides all parameters
  // Called with every network before it is solved; a failure ends the planning. May be empty.
  std::function<Status(const Mesh &, const solver::Problem &)> onNetwork;
  // Called with every plan that a search has made, whether it is kept or not. May be empty.
  std::function<void(const PlanReport &)> onPlan;
};

// A bound that is known of all plans of interest.
struct Proven {
  double seconds = 0;                          // no plan is faster
  std::vector<std::pair<Mesh, double>> meshes; // and no plan on these
};

// Options of one trial among several.
struct TrialOptions : PlannerOptions {
  TrialOptions() = default;
  TrialOptions(PlannerOptions asked) : PlannerOptions(std::move(asked)) {}

  WhenTooLarge whenTooLarge = WhenTooLarge::Explain;
  // Plans within the budget that take at least as many seconds are not searched.
  double cutoffSeconds = solver::kForbidden;
  // Takes the place of the bound on plans of this step: with another policy there may be faster
  // ones.
  std::optional<Proven> proven;
  // The memory of a plan's program. Empty: the peak of the cost network stands for it.
  MemoryOf memoryOf;
};

// The meshes that plans are searched on, without coarser ones (Meshes.h): the one that was asked
// for, or that of the pins, or candidateMeshes().
std::vector<Mesh> meshesToTry(const PlannerOptions &options);

// Whether the axes of the plan are named by what it splits over them (AxisUse.h): the user gave
// neither a mesh nor pins that have one or name an axis.
bool namesByUse(const PlannerOptions &options);

// The options for plans on one mesh only, whose axes are named as if it were not given.
template <typename Options> Options onMesh(Options options, const Mesh &mesh) {
  options.isOwnMesh = namesByUse(options);
  options.mesh = mesh;
  return options;
}

} // namespace cleave::planner
