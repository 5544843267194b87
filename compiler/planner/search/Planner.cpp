#include "compiler/planner/search/Planner.h"

#include "compiler/planner/choices/Meshes.h"
#include "compiler/planner/network/Around.h"
#include "compiler/planner/network/ReadSolution.h"
#include "compiler/planner/report/AxisUse.h"
#include "compiler/planner/report/Explain.h"
#include "compiler/planner/report/Remarks.h"
#include "compiler/planner/report/RematRemarks.h"
#include "compiler/planner/search/MeshSearch.h"
#include "compiler/solver/Check.h"
#include "runtime/base/Units.h"

#include <algorithm>
#include <utility>

namespace cleave::planner {

static Status checkOptions(const StepModel &model, const PlannerOptions &options) {
  if (options.ranks < 1)
    return Status::userError("a plan needs at least one rank, found ", options.ranks);
  for (const Mesh &mesh : meshesToTry(options)) {
    if (mesh.ranks() != options.ranks && !options.mesh)
      return Status::userError("the sizes in --pin ", options.pins.name(), " make the mesh ",
                               mesh.str(), " of ", mesh.ranks(), " ranks, but ", options.ranks,
                               " were asked for; give sizes that divide --ranks");
    if (mesh.ranks() != options.ranks)
      return Status::userError("the mesh ", mesh.str(), " has ", mesh.ranks(), " ranks, but ",
                               options.ranks, " were asked for: make --mesh and --ranks agree");
    CLEAVE_TRY(options.pins.check(model, mesh));
  }
  return Status::ok();
}

// -- from layouts to a plan -----------------------------------------------------------------------
// The mesh whose axes are joined as these parts say.
static Mesh joinedMesh(const Mesh &mesh, const std::vector<std::vector<int>> &parts) {
  const std::vector<CoarserMesh> all = coarserMeshes(mesh);
  return std::find_if(all.begin(), all.end(),
                      [&](const CoarserMesh &coarser) { return coarser.parts == parts; })
      ->mesh;
}

// The outcomes of the meshes, for the user. The chosen one has the names of the plan.
static std::vector<TriedMesh> meshesTried(const SolvedLayouts &layouts, const Mesh &named,
                                          const std::optional<Proven> &proven) {
  std::vector<TriedMesh> tried = layouts.tried;
  TriedMesh &chosen = tried[layouts.chosen];
  if (!layouts.parts.empty())
    chosen = {.isPlanned = true,
              .seconds = layouts.seconds,
              .note = "with axes together as in " + joinedMesh(named, layouts.parts).str()};
  chosen.mesh = named;
  chosen.bytes = layouts.memory.arena;
  chosen.note = chosen.note.empty() ? "chosen" : "chosen, " + chosen.note;
  if (proven && tried.size() == 1)
    for (const auto &[mesh, seconds] : proven->meshes)
      if (!haveEqualSizes(mesh, named))
        tried.push_back({.mesh = mesh, .seconds = seconds});
  return tried;
}

// The decisions with their seconds, bytes and bounds.
static PlanReport accountOf(const StepModel &model, const TrialOptions &options,
                            const SolvedLayouts &layouts) {
  const solver::Solution &solution = layouts.solution;
  PlanReport plan{{readSolution(*layouts.costs, layouts.problem, solution.choices)}};
  if (namesByUse(options))
    plan.mesh = namedByUse(plan.mesh, axisUses(model, plan, {}));
  plan.seconds = secondsOf(*layouts.costs, plan);
  const double bound = options.proven ? options.proven->seconds : layouts.boundSeconds;
  plan.boundSeconds = std::min(plan.seconds, bound);
  plan.meshesTried = meshesTried(layouts, plan.mesh, options.proven);
  plan.gap = plan.seconds > 0 ? (plan.seconds - plan.boundSeconds) / plan.seconds : 0;
  plan.unlistedChoices = layouts.unlisted;
  plan.peakBytes = layouts.memory.peak;
  plan.arenaBytes = layouts.memory.arena;
  plan.hostBytes = layouts.memory.host;
  plan.fileBytes = layouts.memory.file;
  plan.modelledBytes = solution.peaks.empty() ? 0 : solution.peaks[0].bytes;
  plan.budget = options.budget;
  plan.secondsPerByte = solution.shadowPrice.empty() ? 0 : solution.shadowPrice[0];
  // `proven`: a plan that recomputes nothing did not fit.
  plan.isBinding = plan.budget.isLimited() &&
                   (layouts.isBinding || plan.secondsPerByte > 0 || options.proven.has_value());
  plan.pin = options.pins.name();
  plan.solveSeconds = layouts.solveSeconds;
  return plan;
}

static PlanReport toPlan(const StepModel &model, const TrialOptions &options,
                         const SolvedLayouts &layouts) {
  Costs &costs = *layouts.costs;
  const PlanProblem &problem = layouts.problem;
  const std::vector<int> &choices = layouts.solution.choices;
  PlanReport plan = accountOf(model, options, layouts);
  plan.atPeak = holdersAtPeak(problem, layouts.solution, 10);
  plan.holdings = holdingsOf(problem, choices);
  Explainer explainer(model, plan.mesh, problem, layouts.solution);
  plan.reasons = explainChoices(model, explainer, problem, choices, options.maxReasons);
  plan.remarks = remarksOn(model, plan, problem, layouts.solution, costs);
  plan.recomputed = recomputedOps(costs, plan);
  plan.kept = keptValuesOf(costs, plan);
  for (PlanRemark &remark : remarksOnRemat(plan))
    plan.remarks.push_back(std::move(remark));
  return plan;
}

Result<PlanReport> planStep(const StepModel &model, const cluster::Cluster &cluster,
                            const TrialOptions &given) {
  CLEAVE_TRY(checkOptions(model, given));
  TrialOptions options = given;
  options.pins.prepare(model);
  CLEAVE_TRY_ASSIGN(const cluster::Cluster shared, cluster::forRanks(cluster, options.ranks));
  CLEAVE_TRY_ASSIGN(const SolvedLayouts layouts, searchMeshes(model, shared, options));
  return toPlan(model, options, layouts);
}

// -- plans that need no search of meshes ----------------------------------------------------------
// The network on one mesh, with the listed choices only, to be solved.
static Result<SolvedLayouts> networkOn(const StepModel &model, const cluster::Cluster &shared,
                                       const PlannerOptions &options, const Mesh &mesh,
                                       const Budget &budget) {
  SolvedLayouts layouts;
  layouts.costs = std::make_unique<Costs>(model, shared, mesh);
  CLEAVE_TRY_ASSIGN(layouts.problem,
                    buildProblem(*layouts.costs, options.pins, budget, {options.choices}));
  layouts.tried = {{.mesh = mesh, .isPlanned = true}};
  return layouts;
}

static void forbidRests(PlanProblem &problem) {
  for (const auto &[node, rest] : problem.rests)
    problem.network.nodes[node].choices.forbid(rest.choice);
}

// The network of the mesh that was asked for, within the budget and with the bound of the mesh.
static Result<SolvedLayouts> askedNetwork(const StepModel &model, const cluster::Cluster &shared,
                                          const PlannerOptions &options) {
  CLEAVE_TRY(checkOptions(model, options));
  if (!options.mesh)
    return Status::userError("a network and its solution are of one mesh: give --mesh");
  CLEAVE_TRY_ASSIGN(SolvedLayouts layouts,
                    networkOn(model, shared, options, *options.mesh, options.budget));
  CLEAVE_TRY_ASSIGN(const solver::Bounded bounded,
                    solver::lowerBound(layouts.problem.network, options.solve));
  layouts.boundSeconds = bounded.seconds;
  forbidRests(layouts.problem);
  return layouts;
}

// Sets the seconds and the memory of the layouts' decisions.
static Status account(SolvedLayouts &layouts, const TrialOptions &options) {
  const Decisions decisions =
      readSolution(*layouts.costs, layouts.problem, layouts.solution.choices);
  layouts.seconds = layouts.tried[0].seconds = secondsOf(*layouts.costs, decisions);
  const std::vector<solver::MemoryPeak> &peaks = layouts.solution.peaks;
  layouts.memory.peak = layouts.memory.arena = peaks.empty() ? 0 : peaks[0].bytes;
  if (options.memoryOf) {
    CLEAVE_TRY_ASSIGN(layouts.memory, options.memoryOf(decisions));
  }
  return Status::ok();
}

Result<solver::Problem> networkOf(const StepModel &model, const cluster::Cluster &cluster,
                                  const PlannerOptions &given) {
  PlannerOptions options = given;
  options.pins.prepare(model);
  CLEAVE_TRY_ASSIGN(const cluster::Cluster shared, cluster::forRanks(cluster, options.ranks));
  CLEAVE_TRY_ASSIGN(SolvedLayouts layouts, askedNetwork(model, shared, options));
  return std::move(layouts.problem.network);
}

// Refuses choices that are no solution.
static Status checkGiven(const solver::Problem &problem, const std::vector<int> &choices) {
  if (choices.size() != problem.nodes.size())
    return Status::userError("the solution has ", choices.size(), " choices, but the network ",
                             problem.nodes.size(), " nodes: expected a solution of what ",
                             "--problem writes for the same options");
  const std::vector<std::string> found = solver::violations(problem, choices);
  return found.empty()
             ? Status::ok()
             : Status::infeasible("the solution does not hold, ", found.size(),
                                  found.size() == 1 ? " violation: " : " violations: ", found[0],
                                  found.size() > 1 ? "; …" : "");
}

Result<PlanReport> planOf(const StepModel &model, const cluster::Cluster &cluster,
                          const TrialOptions &given, const std::vector<int> &choices) {
  TrialOptions options = given;
  options.pins.prepare(model);
  CLEAVE_TRY_ASSIGN(const cluster::Cluster shared, cluster::forRanks(cluster, options.ranks));
  CLEAVE_TRY_ASSIGN(SolvedLayouts layouts, askedNetwork(model, shared, options));
  const solver::Problem &network = layouts.problem.network;
  CLEAVE_TRY(checkGiven(network, choices));
  layouts.solution.choices = choices;
  layouts.solution.cost = solver::totalCost(network, choices);
  layouts.solution.peaks = solver::memoryPeaks(network, choices);
  CLEAVE_TRY(account(layouts, options));
  if (!options.budget.holds(layouts.memory.arena))
    return Status::infeasible("the program of the solution takes ", bytesText(layouts.memory.arena),
                              ", more than the budget of ", bytesText(options.budget.bytes()),
                              ": the network counts less; solve it with a smaller --memory");
  layouts.tried[0].note = "as given";
  return toPlan(model, options, layouts);
}

Result<PlanReport> planAround(const StepModel &model, const cluster::Cluster &cluster,
                              const TrialOptions &given, const StepModel &before,
                              const Decisions &around) {
  TrialOptions options = given;
  options.pins.prepare(model);
  CLEAVE_TRY_ASSIGN(const cluster::Cluster shared, cluster::forRanks(cluster, options.ranks));
  CLEAVE_TRY_ASSIGN(SolvedLayouts layouts,
                    networkOn(model, shared, options, around.mesh, Budget::unlimited()));
  PlanProblem &problem = layouts.problem;
  forbidRests(problem);
  // Decisions that are kept are explained with the choices that they had.
  const std::vector<solver::Node> open = problem.network.nodes;
  keepAround(problem, model, before, around);
  CLEAVE_TRY_ASSIGN(layouts.solution,
                    solver::solve(problem.network, options.solve).withContext("planner"));
  if (!layouts.solution.isFound())
    return Status::infeasible("recomputed ops cannot use these layouts");
  problem.network.nodes = open;
  CLEAVE_TRY(account(layouts, options));
  layouts.boundSeconds = 0; // nothing is proven
  return toPlan(model, options, layouts);
}

} // namespace cleave::planner
