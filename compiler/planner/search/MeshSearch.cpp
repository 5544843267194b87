// Bounds, the order of meshes, and what becomes of each.
#include "compiler/planner/search/MeshSearch.h"

#include "compiler/planner/choices/Meshes.h"
#include "compiler/planner/network/InParts.h"
#include "compiler/planner/network/ReadSolution.h"
#include "compiler/planner/report/Explain.h"
#include "runtime/base/Parallel.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cleave::planner {

namespace {

// A mesh that is tried.
struct MeshCandidate {
  explicit MeshCandidate(CoarserMesh tried)
      : mesh(std::move(tried.mesh)), parts(std::move(tried.parts)) {}

  Mesh mesh;
  std::vector<std::vector<int>> parts; // of its axes in the mesh that was asked for; empty: none
  std::unique_ptr<Costs> costs;        // on it; once prices are known, they are not computed again
  std::optional<PlanProblem> problem;  // its first one without a budget, until it is solved
  solver::Bounded bounded;             // of this network
  double bound = -solver::kForbidden;  // lower bound on the seconds of any plan on it
  double rise = 0;                     // of the bound by its last step
  size_t others = 0;                   // choices that its last network does not list
  TriedMesh outcome;                   // all but its mesh
};

// The best solution so far, and the reason if there is none.
struct Best {
  MeshCandidate *candidate = nullptr;
  PlanProblem problem;
  solver::Solution solution;
  ProgramMemory memory;             // of the solution's program
  std::string infeasible;           // the message of the mesh on which the fewest bytes are missing
  std::optional<int64_t> missing;   // bytes missing there; nothing: memory is not the reason
  MeshCandidate *closest = nullptr; // that mesh
  bool isCut = false;               // smaller programs were not searched there (Fit.h)
  WhenTooLarge whenTooLarge = WhenTooLarge::Search;
  double solveSeconds = 0;             // wall time of all solves
  double seconds = solver::kForbidden; // of a step, with buckets as they are
  bool isBinding = false;              // the fastest plan without a budget does not fit
};

// A solution without a budget, on one of the meshes.
struct Unlimited {
  MeshCandidate *candidate = nullptr;
  Refined refined;
  double seconds = solver::kForbidden; // of a step, with buckets as they are
};

} // namespace

// Whether other stages have chosen layouts of messages, which name the axes of their mesh.
static bool hasGivenLayouts(const StepModel &model) {
  auto isGiven = [](const auto &message) { return message.layout.has_value(); };
  return std::any_of(model.arguments.begin(), model.arguments.end(), isGiven) ||
         std::any_of(model.outputs.begin(), model.outputs.end(), isGiven);
}

// The meshes to try, and for a mesh that was asked for the coarser ones. Not under pins or given
// layouts, which say what single axes do.
static std::vector<MeshCandidate> candidatesFor(const StepModel &model,
                                                const TrialOptions &options) {
  std::vector<MeshCandidate> candidates;
  for (Mesh &mesh : meshesToTry(options))
    candidates.emplace_back(CoarserMesh{std::move(mesh), {}});
  if (options.mesh && options.pins.name().empty() && !hasGivenLayouts(model))
    for (CoarserMesh &coarser : coarserMeshes(*options.mesh))
      if (options.pins.check(model, coarser.mesh))
        candidates.emplace_back(std::move(coarser));
  return candidates;
}

// Raises the bound of the mesh's network by one step.
static void raiseBound(MeshCandidate &candidate) {
  const double before = candidate.bound;
  solver::raise(candidate.bounded);
  candidate.bound = std::max(before, candidate.bounded.seconds);
  candidate.rise = candidate.bound - before;
}

// Whether that would do nothing.
static bool isBoundFinal(const MeshCandidate &candidate) {
  return !candidate.problem || candidate.bounded.isFinal;
}

// Prepares the costs of a mesh, and, where several compete, its network without a budget and the
// first step of its bound. A mesh that was asked for gets none.
static Status prepareMesh(MeshCandidate &candidate, const StepModel &model,
                          const cluster::Cluster &cluster, const TrialOptions &options,
                          bool isAlone) {
  candidate.costs = std::make_unique<Costs>(model, cluster, candidate.mesh);
  if (isAlone || (options.mesh && candidate.parts.empty()))
    return Status::ok();
  Result<PlanProblem> problem =
      buildProblem(*candidate.costs, options.pins, Budget::unlimited(), {options.choices});
  if (!problem) {
    candidate.bound = solver::kForbidden;
    return Status::ok(); // another mesh may do
  }
  CLEAVE_TRY_ASSIGN(candidate.bounded,
                    solver::beginBound(problem->network, options.solve).withContext("planner"));
  candidate.problem = std::move(*problem);
  raiseBound(candidate);
  return Status::ok();
}

static Status prepareMeshes(std::vector<MeshCandidate> &candidates, const StepModel &model,
                            const cluster::Cluster &cluster, const TrialOptions &options) {
  std::vector<Status> prepared(candidates.size(), Status::ok());
  inParallel(candidates.size(), [&](size_t i) {
    prepared[i] = prepareMesh(candidates[i], model, cluster, options, candidates.size() == 1);
  });
  for (const Status &status : prepared)
    CLEAVE_TRY(status);
  return Status::ok();
}

// The order in which meshes are tried: by rising bound. The first solution is then good enough that
// the bounds of most other meshes rule them out without solving them. Bounds that differ only by
// rounding count as equal; of equal bounds the first mesh comes first.
static bool comesBefore(const MeshCandidate *a, const MeshCandidate *b) {
  auto rounded = [](const MeshCandidate *candidate) {
    return std::floor(std::log(std::max(candidate->bound, 0.0)) * 1e6);
  };
  return std::pair(rounded(a), a) < std::pair(rounded(b), b);
}

// Keeps the message of the mesh on which the fewest bytes are missing. Where memory is not the
// reason, more are missing than anywhere else.
static void keepReason(const Fitted &fitted, const TrialOptions &options, MeshCandidate &candidate,
                       Best &best) {
  const PlanProblem &problem = fitted.refined.problem;
  const solver::Solution &solution = fitted.refined.solution;
  const std::vector<int64_t> &least = solution.infeasibility.smallestBudget;
  std::optional<int64_t> missing;
  if (!least.empty())
    missing = least[0] - problem.network.spaces[0].budget;
  const bool isCloser = missing && (!best.missing || *missing < *best.missing);
  if (!best.infeasible.empty() && !isCloser)
    return;
  best.infeasible = explainInfeasible(problem, solution, options.ranks, options.pins.name(),
                                      /*isOnlyStep=*/!options.proven);
  best.missing = missing;
  best.closest = &candidate;
  best.isCut = fitted.isCut;
}

// The seconds that a plan on one mesh must beat. The first of equally good candidates wins.
// Plans are compared by their own seconds: those of the network, which are a little less, do not
// know which buckets are full.
static double cutoffFor(const MeshCandidate &candidate, const MeshCandidate *best, double seconds) {
  constexpr double kEqual = 1 + 1e-9;
  return best && &candidate < best ? seconds * kEqual * kEqual : seconds;
}

// The seconds of a step by the solution's decisions.
static double secondsOf(const Refined &refined, Costs &costs) {
  return secondsOf(costs, readSolution(costs, refined.problem, refined.solution.choices));
}

static bool isNoBetter(const MeshCandidate &candidate, double cutoff) {
  return candidate.bound < solver::kForbidden && candidate.bound >= cutoff;
}

// The solver's callback for networks; nothing is reported of coarser meshes.
static std::function<Status(const solver::Problem &)> reporter(const TrialOptions &options,
                                                               const MeshCandidate &candidate) {
  if (!options.onNetwork || !candidate.parts.empty())
    return {};
  return [&](const solver::Problem &network) { return options.onNetwork(candidate.mesh, network); };
}

static void keepImpossible(const Status &status, MeshCandidate &candidate, Best &best) {
  candidate.outcome = {.note = "leaves no way to place something"};
  if (best.infeasible.empty()) {
    best.infeasible = status.message();
    best.missing.reset();
  }
}

// The result of a solve whose solution has to be faster than a cutoff.
struct Outcome {
  double seconds = solver::kForbidden; // of its solution; kForbidden: there is none
  bool isTooLarge = false;             // no plan fits
};

// Records the outcome of a solve that must beat the cutoff.
static Outcome recordOutcome(const Refined &refined, double cutoff, MeshCandidate &candidate) {
  candidate.bound = std::max(candidate.bound, refined.solution.lowerBound);
  candidate.others = refined.others;
  if (isNoBetter(candidate, cutoff)) {
    candidate.outcome = {.seconds = candidate.bound};
  } else if (refined.isBeaten) {
    candidate.outcome = {.seconds = candidate.bound, .note = "no better one found"};
  } else if (!refined.solution.isFound()) {
    candidate.outcome = {.note = "does not fit"};
    return {.isTooLarge = true};
  } else {
    const double seconds = secondsOf(refined, *candidate.costs);
    const std::vector<solver::MemoryPeak> &peaks = refined.solution.peaks;
    candidate.outcome = {
        .isPlanned = true, .seconds = seconds, .bytes = peaks.empty() ? 0 : peaks[0].bytes};
    return {.seconds = seconds};
  }
  return {};
}

// Solves for one mesh without a budget, until it is proven to be no better than the best so far.
static Status tryWithoutBudget(const TrialOptions &options, MeshCandidate &candidate, Best &best,
                               Unlimited &fastest) {
  solver::SolveOptions limits = options.solve;
  limits.cutoff = cutoffFor(candidate, fastest.candidate, fastest.seconds);
  candidate.outcome = {.seconds = candidate.bound};
  std::optional<BegunNetwork> network;
  if (candidate.problem)
    network = {std::move(*candidate.problem), std::move(candidate.bounded.begun)};
  candidate.problem.reset();
  if (isNoBetter(candidate, limits.cutoff))
    return Status::ok();
  Result<Refined> refined =
      solveRefining(*candidate.costs, options.pins, Budget::unlimited(), options.choices, limits,
                    reporter(options, candidate), std::move(network));
  if (refined.status().kind() == StatusKind::Infeasible) {
    keepImpossible(refined.status(), candidate, best);
    return Status::ok();
  }
  CLEAVE_TRY(refined.status());
  best.solveSeconds += refined->solution.seconds;
  const double seconds = recordOutcome(*refined, limits.cutoff, candidate).seconds;
  if (seconds < limits.cutoff)
    fastest = {&candidate, std::move(*refined), seconds};
  return Status::ok();
}

// Solves for one mesh within the budget until it is proven to be no better than the best so far,
// and keeps the result if it is better. `unlimited`: its solution without a budget, if it is known.
static Status tryMesh(const TrialOptions &options, MeshCandidate &candidate, Best &best,
                      std::optional<Refined> unlimited = {}) {
  FitOptions fit{.budget = options.budget,
                 .choices = options.choices,
                 .solve = options.solve,
                 .memoryOf = options.memoryOf,
                 .onNetwork = reporter(options, candidate),
                 .whenTooLarge = best.whenTooLarge};
  fit.solve.cutoff = cutoffFor(candidate, best.candidate, best.seconds);
  const double limit = fit.solve.cutoff;
  if (isNoBetter(candidate, limit)) {
    candidate.outcome = {.seconds = candidate.bound};
    return Status::ok();
  }
  Result<Fitted> fitted = solveToFit(*candidate.costs, options.pins, fit, std::move(unlimited));
  if (fitted.status().kind() == StatusKind::Infeasible) {
    keepImpossible(fitted.status(), candidate, best);
    return Status::ok();
  }
  CLEAVE_TRY(fitted.status());
  Refined &refined = fitted->refined;
  best.solveSeconds += refined.solution.seconds;
  const Outcome outcome = recordOutcome(refined, limit, candidate);
  if (outcome.seconds < limit) {
    best.candidate = &candidate;
    best.problem = candidate.parts.empty() ? std::move(refined.problem)
                                           : inParts(std::move(refined.problem), candidate.parts);
    best.solution = std::move(refined.solution);
    best.memory = fitted->memory;
    best.seconds = outcome.seconds;
  } else if (outcome.isTooLarge) {
    keepReason(*fitted, options, candidate, best);
  }
  return Status::ok();
}

// Nothing fits: looks for the smallest program on the mesh that came closest.
static Status findLeast(const TrialOptions &options, Best &best) {
  best.whenTooLarge = WhenTooLarge::Explain;
  best.infeasible.clear();
  best.closest->bound = -solver::kForbidden;
  return tryMesh(options, *best.closest, best);
}

// Takes the mesh that is tried next from those that are left. Bounds are raised no further than
// this needs: always the lowest one, until it is final or proves its mesh to be no better than the
// best so far. The next lowest one is raised beside it if it will be the lowest one if the other
// rises as it did before.
static MeshCandidate *takeNext(std::vector<MeshCandidate *> &left, const Unlimited &fastest) {
  for (;;) {
    std::sort(left.begin(), left.end(), comesBefore);
    MeshCandidate *next = left.front();
    if (isBoundFinal(*next) ||
        isNoBetter(*next, cutoffFor(*next, fastest.candidate, fastest.seconds))) {
      left.erase(left.begin());
      return next;
    }
    const bool raisesTwo =
        left.size() > 1 && !isBoundFinal(*left[1]) && left[1]->bound <= next->bound + next->rise;
    inParallel(raisesTwo ? 2 : 1, [&](size_t i) { raiseBound(*left[i]); });
  }
}

// The order in which meshes are solved without a budget, and the fastest solution. A mesh that was
// asked for comes before its coarser ones if it has two axes, so that they change its plan only if
// they improve it; else last, since its network is the largest.
static Result<std::vector<MeshCandidate *>>
tryAllWithoutBudget(const TrialOptions &options, std::vector<MeshCandidate> &candidates, Best &best,
                    Unlimited &fastest) {
  const bool isFirstLast = options.mesh && options.mesh->axes.size() > 2;
  std::vector<MeshCandidate *> left, order;
  for (MeshCandidate &candidate : candidates)
    left.push_back(&candidate);
  if (isFirstLast)
    left.erase(left.begin());
  while (!left.empty()) {
    order.push_back(takeNext(left, fastest));
    CLEAVE_TRY(tryWithoutBudget(options, *order.back(), best, fastest));
  }
  if (isFirstLast) {
    order.push_back(&candidates[0]);
    CLEAVE_TRY(tryWithoutBudget(options, candidates[0], best, fastest));
  }
  return order;
}

// The best plan of all meshes. Memory rarely binds: the fastest plan without a budget is found
// first, and only its program is read. If that does not fit, every mesh is solved within the
// budget, beginning with the one of that plan.
static Result<Best> search(const TrialOptions &options, std::vector<MeshCandidate> &candidates) {
  Best best;
  best.seconds = options.cutoffSeconds;
  if (options.whenTooLarge == WhenTooLarge::Stop)
    best.whenTooLarge = WhenTooLarge::Stop;
  Unlimited fastest;
  CLEAVE_TRY_ASSIGN(const std::vector<MeshCandidate *> order,
                    tryAllWithoutBudget(options, candidates, best, fastest));
  if (fastest.candidate) {
    CLEAVE_TRY(tryMesh(options, *fastest.candidate, best, std::move(fastest.refined)));
    if (best.candidate && best.seconds == fastest.seconds)
      return best;
    best.isBinding = true;
  }
  if (options.whenTooLarge == WhenTooLarge::Stop)
    return best;
  for (MeshCandidate *candidate : order)
    if (candidate != fastest.candidate)
      CLEAVE_TRY(tryMesh(options, *candidate, best));
  if (!best.candidate && best.closest && best.isCut &&
      options.whenTooLarge == WhenTooLarge::Explain)
    CLEAVE_TRY(findLeast(options, best));
  return best;
}

// The outcomes of all meshes but the coarser ones.
static std::vector<TriedMesh> triedMeshes(const std::vector<MeshCandidate> &candidates) {
  std::vector<TriedMesh> tried;
  for (const MeshCandidate &candidate : candidates)
    if (candidate.parts.empty()) {
      tried.push_back(candidate.outcome);
      tried.back().mesh = candidate.mesh;
    }
  return tried;
}

Result<SolvedLayouts> searchMeshes(const StepModel &model, const cluster::Cluster &shared,
                                   const TrialOptions &options) {
  std::vector<MeshCandidate> candidates = candidatesFor(model, options);
  CLEAVE_TRY(prepareMeshes(candidates, model, shared, options));
  CLEAVE_TRY_ASSIGN(Best best, search(options, candidates));
  if (!best.candidate)
    return Status::infeasible(best.infeasible);
  // Layouts of a coarser mesh are some of the mesh that was asked for, the first candidate.
  const bool isCoarser = !best.candidate->parts.empty();
  MeshCandidate &target = isCoarser ? candidates[0] : *best.candidate;
  SolvedLayouts found;
  found.tried = triedMeshes(candidates);
  found.chosen = &target - candidates.data(); // coarser meshes come last
  found.parts = best.candidate->parts;
  found.unlisted = target.others;
  for (const MeshCandidate &candidate : candidates)
    if (candidate.parts.empty())
      found.boundSeconds = std::min(found.boundSeconds, candidate.bound);
  found.costs = std::move(target.costs);
  found.problem = std::move(best.problem);
  found.solution = std::move(best.solution);
  found.memory = best.memory;
  found.seconds = best.seconds;
  found.solveSeconds = best.solveSeconds;
  found.isBinding = best.isBinding;
  return found;
}

} // namespace cleave::planner
