#include "compiler/planner/Planner.h"

#include "compiler/planner/Explain.h"
#include "runtime/base/Units.h"

#include <algorithm>

namespace cleave::planner {

std::vector<Mesh> candidateMeshes(int64_t ranks) {
  std::vector<Mesh> meshes = {Mesh{{{"dp", ranks}}}};
  for (int64_t dp = ranks / 2; dp >= 2; --dp)
    if (ranks % dp == 0)
      meshes.push_back(Mesh{{{"dp", dp}, {"tp", ranks / dp}}});
  return meshes;
}

namespace {

// The best of what was solved so far.
struct Best {
  std::optional<Mesh> mesh;
  PlanProblem problem;
  solver::Solution solution;
  double bound = solver::forbidden; // the least over all meshes
  std::vector<std::string> tried;
  std::string infeasible; // the message of the mesh that came closest
  int64_t missing = 0;
  double seconds = 0;
};

} // namespace

static std::vector<Mesh> meshesToTry(const PlannerOptions &options) {
  if (options.mesh)
    return {*options.mesh};
  if (std::optional<Mesh> mesh = options.pins.defaultMesh(options.ranks))
    return {*mesh};
  return candidateMeshes(options.ranks);
}

static Status checkOptions(const StepModel &model, const PlannerOptions &options) {
  if (options.ranks < 1)
    return Status::userError("a plan needs at least one rank, found " +
                             std::to_string(options.ranks));
  for (const Mesh &mesh : meshesToTry(options)) {
    if (mesh.ranks() != options.ranks)
      return Status::userError("the mesh " + str(mesh) + " has " + std::to_string(mesh.ranks()) +
                               " ranks, but " + std::to_string(options.ranks) +
                               " were asked for: make --mesh and --ranks agree");
    CLEAVE_TRY(options.pins.check(model, mesh));
  }
  return Status::ok();
}

// Solves for one mesh and keeps the result if it is the best.
static Status tryMesh(const StepModel &model, const cluster::Cluster &cluster,
                      const PlannerOptions &options, const Mesh &mesh, Best &best) {
  Costs costs(model, cluster, mesh);
  int64_t budget = options.memoryBytes ? options.memoryBytes : cluster.usableBytes();
  PlanProblem problem = buildProblem(costs, options.pins, budget);
  for (const solver::Node &node : problem.problem.nodes)
    if (node.choices.empty())
      return Status::infeasible(
          "no way is left to place " + node.name + " on the mesh " + str(mesh) +
          (options.pins.name().empty() ? "" : " under the pins of " + options.pins.name()));
  Result<solver::Solution> solution = solver::solve(problem.problem, options.solve);
  if (!solution)
    return solution.status().withContext("planner");
  best.seconds += solution->seconds;
  best.bound = std::min(best.bound, solution->lowerBound);
  if (!solution->isFound()) {
    best.tried.push_back(str(mesh) + ": does not fit");
    int64_t missing = solution->infeasibility.smallestBudget.empty()
                          ? INT64_MAX
                          : solution->infeasibility.smallestBudget[0] - budget;
    if (best.infeasible.empty() || missing < best.missing) {
      best.infeasible = explainInfeasible(problem, *solution, options.ranks);
      best.missing = missing;
    }
    return Status::ok();
  }
  best.tried.push_back(str(mesh) + ": " + secondsText(solution->cost));
  if (!best.mesh || solution->cost < best.solution.cost) {
    best.mesh = mesh;
    best.problem = std::move(problem);
    best.solution = std::move(*solution);
  }
  return Status::ok();
}

static Plan toPlan(const StepModel &model, const PlannerOptions &options, const Best &best) {
  Plan plan;
  plan.mesh = *best.mesh;
  const std::vector<int> &choices = best.solution.choices;
  for (size_t i = 0; i < model.ops.size(); ++i) {
    const OpChoice &choice = best.problem.choicesOf(i)[choices[i]];
    plan.ops.push_back({choice.factors, choice.partial, choice.results});
  }
  for (size_t i = 0; i < model.arguments.size(); ++i) {
    int node = best.problem.argumentNode[i];
    if (node >= 0) {
      const ArgumentChoice &choice = best.problem.argumentChoices[i][choices[node]];
      plan.arguments.push_back({choice.storage, choice.compute});
    } else {
      int reader = model.values[model.arguments[i].value].uses[0].op;
      Sharding layout = followedLayout(model, static_cast<int>(i),
                                       best.problem.choicesOf(reader)[choices[reader]]);
      plan.arguments.push_back({layout, layout});
    }
  }
  plan.seconds = best.solution.cost;
  plan.boundSeconds = std::min(best.bound, plan.seconds);
  plan.gap = plan.seconds > 0 ? (plan.seconds - plan.boundSeconds) / plan.seconds : 0;
  plan.peakBytes = best.solution.peaks.empty() ? 0 : best.solution.peaks[0].bytes;
  plan.budgetBytes = best.problem.problem.spaces[0].budget;
  plan.secondsPerByte = best.solution.shadowPrice.empty() ? 0 : best.solution.shadowPrice[0];
  plan.pin = options.pins.name();
  plan.meshesTried = best.tried;
  plan.solveSeconds = best.seconds;
  plan.atPeak = holdersAtPeak(best.problem, best.solution, 10);
  plan.reasons = explainChoices(model, plan.mesh, best.problem, choices, options.maxReasons);
  return plan;
}

Result<Plan> planStep(const StepModel &model, const cluster::Cluster &cluster,
                      const PlannerOptions &given) {
  CLEAVE_TRY(checkOptions(model, given));
  PlannerOptions options = given;
  options.pins.prepare(model);
  Result<cluster::Cluster> shared = cluster::forRanks(cluster, options.ranks);
  if (!shared)
    return shared.status();
  Best best;
  for (const Mesh &mesh : meshesToTry(options))
    CLEAVE_TRY(tryMesh(model, *shared, options, mesh, best));
  if (!best.mesh)
    return Status::infeasible(best.infeasible);
  return toPlan(model, options, best);
}

} // namespace cleave::planner
