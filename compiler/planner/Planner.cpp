#include "compiler/planner/Planner.h"

#include "compiler/planner/Decide.h"
#include "compiler/planner/Explain.h"
#include "compiler/planner/FateRemarks.h"
#include "compiler/planner/Remarks.h"
#include "runtime/base/Units.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace cleave::planner {

std::vector<Mesh> candidateMeshes(int64_t ranks) {
  std::vector<Mesh> meshes = {Mesh{{{"dp", ranks}}}};
  for (int64_t dp = ranks / 2; dp >= 2; --dp)
    if (ranks % dp == 0)
      meshes.push_back(Mesh{{{"dp", dp}, {"tp", ranks / dp}}});
  return meshes;
}

namespace {

// A mesh that is tried.
struct MeshCandidate {
  explicit MeshCandidate(Mesh tried) : mesh(std::move(tried)) {}

  Mesh mesh;
  std::unique_ptr<Costs> costs;       // on it; once prices are known, they are not computed again
  double bound = -solver::kForbidden; // lower bound on the seconds of any plan on it
  std::string outcome;                // `12.3 ms`, `at least 12.3 ms`, `does not fit`
};

// The best solution so far, and the reason if there is none.
struct Best {
  const MeshCandidate *candidate = nullptr;
  PlanProblem problem;
  solver::Solution solution;
  ProgramMemory memory;             // of the solution's program
  size_t others = 0;                // choices that are not listed in the problem
  std::string infeasible;           // the message of the mesh on which the fewest bytes are missing
  int64_t missing = 0;              // bytes missing there; INT64_MAX: memory is not the reason
  MeshCandidate *closest = nullptr; // that mesh
  bool findsLeast = false;          // FitOptions::findsLeast
  double seconds = 0;               // wall time of all solves

  double cost() const { return candidate ? solution.cost : solver::kForbidden; }
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
    return Status::userError("a plan needs at least one rank, found ", options.ranks);
  for (const Mesh &mesh : meshesToTry(options)) {
    if (mesh.ranks() != options.ranks)
      return Status::userError("the mesh ", str(mesh), " has ", mesh.ranks(), " ranks, but ",
                               options.ranks, " were asked for: make --mesh and --ranks agree");
    CLEAVE_TRY(options.pins.check(model, mesh));
  }
  return Status::ok();
}

// What one rank may use.
static int64_t budgetOf(const PlannerOptions &options, const cluster::Cluster &cluster) {
  return options.memoryBytes ? options.memoryBytes : cluster.usableBytes();
}

// The order in which meshes are tried: by rising bound. The first solution is then good enough that
// the bounds of most other meshes rule them out without solving them.
static Result<std::vector<MeshCandidate *>> orderOf(std::vector<MeshCandidate> &candidates,
                                                    const StepModel &model,
                                                    const cluster::Cluster &cluster,
                                                    const PlannerOptions &options) {
  std::vector<MeshCandidate *> order;
  for (MeshCandidate &candidate : candidates) {
    order.push_back(&candidate);
    candidate.costs = std::make_unique<Costs>(model, cluster, candidate.mesh);
    if (candidates.size() == 1)
      break;
    Result<PlanProblem> problem =
        buildProblem(*candidate.costs, options.pins, kUnlimitedBytes, {options.choices});
    candidate.bound = solver::kForbidden;
    if (!problem)
      continue; // another mesh may do
    CLEAVE_TRY_ASSIGN(candidate.bound,
                      solver::lowerBound(problem->problem, options.solve).withContext("planner"));
  }
  // Bounds that differ only by rounding count as equal; of equal bounds the first mesh comes first.
  auto rounded = [](const MeshCandidate *candidate) {
    return std::floor(std::log(std::max(candidate->bound, 0.0)) * 1e6);
  };
  std::stable_sort(order.begin(), order.end(), [&](const MeshCandidate *a, const MeshCandidate *b) {
    return rounded(a) < rounded(b);
  });
  return order;
}

// Keeps the message of the mesh on which the fewest bytes are missing.
static void keepReason(const PlanProblem &problem, const solver::Solution &solution,
                       const PlannerOptions &options, MeshCandidate &candidate, Best &best) {
  const std::vector<int64_t> &least = solution.infeasibility.smallestBudget;
  int64_t missing = least.empty() ? INT64_MAX : least[0] - problem.problem.spaces[0].budget;
  if (!best.infeasible.empty() && missing >= best.missing)
    return;
  best.infeasible = explainInfeasible(problem, solution, options.ranks, options.pins.name());
  best.missing = missing;
  best.closest = &candidate;
}

// Solves for one mesh until it is proven to be no better than the best so far, and keeps the result
// if it is better. Of equally good meshes the first candidate wins.
static Status tryMesh(const cluster::Cluster &cluster, const PlannerOptions &options,
                      MeshCandidate &candidate, Best &best) {
  constexpr double kEqual = 1 + 1e-9;
  const bool winsTies = best.candidate && &candidate < best.candidate;
  const double cutoff = best.cost() * (winsTies ? kEqual * kEqual : 1);
  auto isNoBetter = [&] {
    return candidate.bound < solver::kForbidden && candidate.bound >= cutoff;
  };
  if (isNoBetter()) {
    candidate.outcome = "at least " + secondsText(candidate.bound);
    return Status::ok();
  }
  FitOptions fit{.budget = budgetOf(options, cluster),
                 .choices = options.choices,
                 .solve = options.solve,
                 .memoryOf = options.memoryOf,
                 .onNetwork =
                     [&](const solver::Problem &network) {
                       return options.onNetwork ? options.onNetwork(candidate.mesh, network)
                                                : Status::ok();
                     },
                 .findsLeast = best.findsLeast};
  fit.solve.cutoff = cutoff;
  Result<Fitted> fitted = solveToFit(*candidate.costs, options.pins, fit);
  if (fitted.status().kind() == StatusKind::Infeasible) {
    candidate.outcome = "leaves no way to place something";
    if (best.infeasible.empty()) {
      best.infeasible = fitted.status().message();
      best.missing = INT64_MAX;
    }
    return Status::ok();
  }
  CLEAVE_TRY(fitted.status());
  Refined &refined = fitted->refined;
  solver::Solution &solution = refined.solution;
  best.seconds += solution.seconds;
  candidate.bound = std::max(candidate.bound, solution.lowerBound);
  if (isNoBetter()) {
    candidate.outcome = "at least " + secondsText(candidate.bound);
  } else if (refined.isBeaten) {
    candidate.outcome = concat("at least ", secondsText(candidate.bound), ", no better one found");
  } else if (!solution.isFound()) {
    candidate.outcome = "does not fit";
    keepReason(refined.problem, solution, options, candidate, best);
  } else {
    candidate.outcome = secondsText(solution.cost);
    if (solution.cost < best.cost() || (winsTies && solution.cost <= best.cost() * kEqual)) {
      best.candidate = &candidate;
      best.problem = std::move(refined.problem);
      best.solution = std::move(solution);
      best.memory = fitted->memory;
      best.others = refined.others;
    }
  }
  return Status::ok();
}

static Plan toPlan(const StepModel &model, const PlannerOptions &options, const Best &best,
                   const std::vector<MeshCandidate> &candidates) {
  Costs &costs = *best.candidate->costs;
  Plan plan{decide(costs, best.problem, best.solution.choices)};
  plan.seconds = secondsOf(costs, plan);
  plan.boundSeconds = plan.seconds;
  for (const MeshCandidate &candidate : candidates) {
    plan.boundSeconds = std::min(plan.boundSeconds, candidate.bound);
    plan.meshesTried.push_back(str(candidate.mesh) + ": " + candidate.outcome);
  }
  plan.gap = plan.seconds > 0 ? (plan.seconds - plan.boundSeconds) / plan.seconds : 0;
  plan.unlistedChoices = best.others;
  plan.peakBytes = best.memory.peak;
  plan.arenaBytes = best.memory.arena;
  plan.modelledBytes = best.solution.peaks.empty() ? 0 : best.solution.peaks[0].bytes;
  plan.budgetBytes = best.problem.problem.spaces[0].budget;
  plan.secondsPerByte = best.solution.shadowPrice.empty() ? 0 : best.solution.shadowPrice[0];
  plan.pin = options.pins.name();
  plan.solveSeconds = best.seconds;
  plan.atPeak = holdersAtPeak(best.problem, best.solution, 10);
  plan.holdings = holdingsOf(best.problem, best.solution.choices);
  const std::vector<int> &choices = best.solution.choices;
  Explainer explainer(model, plan.mesh, best.problem, choices);
  plan.reasons = explainChoices(model, explainer, best.problem, choices, options.maxReasons);
  plan.remarks = remarksOn(model, plan, best.problem, choices, costs);
  plan.repetitions = repetitionsOf(costs, plan);
  for (PlanRemark &remark : remarksOnFates(costs, plan))
    plan.remarks.push_back(std::move(remark));
  return plan;
}

// Nothing fits: looks for the smallest program on the mesh that came closest.
static Status findLeast(const StepModel &model, const cluster::Cluster &cluster,
                        const PlannerOptions &options, Best &best) {
  best.findsLeast = true;
  best.infeasible.clear();
  best.closest->bound = -solver::kForbidden;
  best.closest->costs = std::make_unique<Costs>(model, cluster, best.closest->mesh);
  CLEAVE_TRY(tryMesh(cluster, options, *best.closest, best));
  if (!best.candidate && options.onTooLarge && best.missing < INT64_MAX)
    options.onTooLarge(budgetOf(options, cluster) + best.missing);
  return Status::ok();
}

Result<Plan> planStep(const StepModel &model, const cluster::Cluster &cluster,
                      const PlannerOptions &given) {
  CLEAVE_TRY(checkOptions(model, given));
  PlannerOptions options = given;
  options.pins.prepare(model);
  CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(cluster, options.ranks));
  std::vector<MeshCandidate> candidates;
  for (Mesh &mesh : meshesToTry(options))
    candidates.emplace_back(std::move(mesh));
  CLEAVE_TRY_ASSIGN(std::vector<MeshCandidate *> order,
                    orderOf(candidates, model, shared, options));
  Best best;
  for (MeshCandidate *candidate : order) {
    CLEAVE_TRY(tryMesh(shared, options, *candidate, best));
    if (best.candidate != candidate)
      candidate->costs.reset();
  }
  if (!best.candidate && best.closest)
    CLEAVE_TRY(findLeast(model, shared, options, best));
  if (!best.candidate)
    return Status::infeasible(best.infeasible);
  return toPlan(model, options, best, candidates);
}

} // namespace cleave::planner
