#include "compiler/planner/search/Planner.h"

#include "compiler/planner/choices/Meshes.h"
#include "compiler/planner/network/Around.h"
#include "compiler/planner/network/Decide.h"
#include "compiler/planner/network/InParts.h"
#include "compiler/planner/report/AxisUse.h"
#include "compiler/planner/report/Explain.h"
#include "compiler/planner/report/FateRemarks.h"
#include "compiler/planner/report/Remarks.h"
#include "compiler/solver/Check.h"
#include "runtime/base/Parallel.h"
#include "runtime/base/Units.h"

#include <algorithm>
#include <cmath>
#include <memory>
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
  const MeshCandidate *candidate = nullptr;
  PlanProblem problem;
  solver::Solution solution;
  ProgramMemory memory;             // of the solution's program
  std::string infeasible;           // the message of the mesh on which the fewest bytes are missing
  std::optional<int64_t> missing;   // bytes missing there; nothing: memory is not the reason
  MeshCandidate *closest = nullptr; // that mesh
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

std::vector<Mesh> meshesToTry(const PlannerOptions &options) {
  if (options.mesh)
    return {*options.mesh};
  if (std::optional<Mesh> mesh = options.pins.defaultMesh(options.ranks, options.nodeRanks))
    return {*mesh};
  return options.pins.namesAxis() ? candidateMeshes(options.ranks, "dp", "tp")
                                  : candidateMeshes(options.ranks);
}

bool namesByUse(const PlannerOptions &options) {
  const Pins &pins = options.pins;
  return options.isOwnMesh ||
         !(options.mesh || pins.namesAxis() || pins.defaultMesh(options.ranks, options.nodeRanks));
}

PlannerOptions onMesh(PlannerOptions options, const Mesh &mesh) {
  options.isOwnMesh = namesByUse(options);
  options.mesh = mesh;
  return options;
}

// Whether other stages have chosen layouts of messages, which name the axes of their mesh.
static bool hasGivenLayouts(const StepModel &model) {
  auto isGiven = [](const auto &message) { return message.layout.has_value(); };
  return std::any_of(model.arguments.begin(), model.arguments.end(), isGiven) ||
         std::any_of(model.outputs.begin(), model.outputs.end(), isGiven);
}

// The meshes to try, and for a mesh that was asked for the coarser ones. Not under pins or given
// layouts, which say what single axes do.
static std::vector<MeshCandidate> candidatesFor(const StepModel &model,
                                                const PlannerOptions &options) {
  std::vector<MeshCandidate> candidates;
  for (Mesh &mesh : meshesToTry(options))
    candidates.emplace_back(CoarserMesh{std::move(mesh), {}});
  if (options.mesh && options.pins.name().empty() && !hasGivenLayouts(model))
    for (CoarserMesh &coarser : coarserMeshes(*options.mesh))
      if (options.pins.check(model, coarser.mesh))
        candidates.emplace_back(std::move(coarser));
  return candidates;
}

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
                          const cluster::Cluster &cluster, const PlannerOptions &options,
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
                            const cluster::Cluster &cluster, const PlannerOptions &options) {
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
static void keepReason(const PlanProblem &problem, const solver::Solution &solution,
                       const PlannerOptions &options, MeshCandidate &candidate, Best &best) {
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
}

// The seconds that a plan on one mesh must beat. Of equally good meshes the first candidate wins.
// Plans are compared by their own seconds: those of the network, which are a little less, do not
// know which buckets are full.
static double cutoffFor(const MeshCandidate &candidate, const MeshCandidate *best, double seconds) {
  constexpr double kEqual = 1 + 1e-9;
  return best && &candidate < best ? seconds * kEqual * kEqual : seconds;
}

// The seconds of a step by the solution's decisions.
static double secondsOf(const Refined &refined, Costs &costs) {
  return secondsOf(costs, decide(costs, refined.problem, refined.solution.choices));
}

static bool isNoBetter(const MeshCandidate &candidate, double cutoff) {
  return candidate.bound < solver::kForbidden && candidate.bound >= cutoff;
}

// The solver's callback for networks; nothing is reported of coarser meshes.
static std::function<Status(const solver::Problem &)> reporter(const PlannerOptions &options,
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
static Status tryWithoutBudget(const PlannerOptions &options, MeshCandidate &candidate, Best &best,
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
static Status tryMesh(const PlannerOptions &options, MeshCandidate &candidate, Best &best,
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
    keepReason(refined.problem, refined.solution, options, candidate, best);
  }
  return Status::ok();
}

// Nothing fits: looks for the smallest program on the mesh that came closest.
static Status findLeast(const PlannerOptions &options, Best &best) {
  best.whenTooLarge = WhenTooLarge::Explain;
  best.infeasible.clear();
  best.closest->bound = -solver::kForbidden;
  CLEAVE_TRY(tryMesh(options, *best.closest, best));
  if (!best.candidate && options.onTooLarge && best.missing)
    options.onTooLarge(options.budget.bytes() + *best.missing);
  return Status::ok();
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
tryAllWithoutBudget(const PlannerOptions &options, std::vector<MeshCandidate> &candidates,
                    Best &best, Unlimited &fastest) {
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
static Result<Best> search(const PlannerOptions &options, std::vector<MeshCandidate> &candidates) {
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
  if (!best.candidate && best.closest && options.whenTooLarge == WhenTooLarge::Explain)
    CLEAVE_TRY(findLeast(options, best));
  return best;
}

// What became of a candidate, for the user. `chosen`: the mesh of the plan.
static TriedMesh triedMesh(const MeshCandidate &candidate, const Best &best, const Mesh &chosen) {
  TriedMesh tried = candidate.outcome;
  tried.mesh = candidate.mesh;
  if (&candidate == best.candidate) {
    tried.mesh = chosen;
    tried.bytes = best.memory.arena;
    tried.note = tried.note.empty() ? "chosen" : "chosen, " + tried.note;
  }
  return tried;
}

// The mesh whose axes are joined as these parts say.
static Mesh joinedMesh(const Mesh &mesh, const std::vector<std::vector<int>> &parts) {
  const std::vector<CoarserMesh> all = coarserMeshes(mesh);
  return std::find_if(all.begin(), all.end(),
                      [&](const CoarserMesh &coarser) { return coarser.parts == parts; })
      ->mesh;
}

static Plan toPlan(const StepModel &model, const PlannerOptions &options, const Best &best,
                   const std::vector<MeshCandidate> &candidates) {
  // A plan of a coarser mesh is one of the mesh that was asked for, the first candidate.
  const MeshCandidate &target = best.candidate->parts.empty() ? *best.candidate : candidates[0];
  Costs &costs = *target.costs;
  Plan plan{{decide(costs, best.problem, best.solution.choices)}};
  if (namesByUse(options))
    plan.mesh = namedByUse(plan.mesh, axisUses(model, plan, {}));
  plan.seconds = secondsOf(costs, plan);
  plan.boundSeconds = plan.seconds;
  for (const MeshCandidate &candidate : candidates) {
    if (!candidate.parts.empty())
      continue;
    plan.boundSeconds = std::min(plan.boundSeconds, candidate.bound);
    plan.meshesTried.push_back(triedMesh(candidate, best, plan.mesh));
  }
  if (options.proven) {
    plan.boundSeconds = std::min(plan.seconds, options.proven->seconds);
    for (const auto &[mesh, seconds] : options.proven->meshes)
      if (!haveEqualSizes(mesh, plan.mesh) && candidates.size() == 1)
        plan.meshesTried.push_back({.mesh = mesh, .seconds = seconds});
  }
  if (best.candidate != &target)
    plan.meshesTried[0] = {.mesh = plan.mesh,
                           .isPlanned = true,
                           .seconds = best.seconds,
                           .bytes = best.memory.arena,
                           .note = "chosen, with axes together as in " +
                                   joinedMesh(plan.mesh, best.candidate->parts).str()};
  plan.gap = plan.seconds > 0 ? (plan.seconds - plan.boundSeconds) / plan.seconds : 0;
  plan.unlistedChoices = target.others;
  plan.peakBytes = best.memory.peak;
  plan.arenaBytes = best.memory.arena;
  plan.hostBytes = best.memory.host;
  plan.fileBytes = best.memory.file;
  plan.modelledBytes = best.solution.peaks.empty() ? 0 : best.solution.peaks[0].bytes;
  plan.budget = options.budget;
  plan.secondsPerByte = best.solution.shadowPrice.empty() ? 0 : best.solution.shadowPrice[0];
  // `proven`: a plan that repeats nothing did not fit.
  plan.isBinding = plan.budget.isLimited() &&
                   (best.isBinding || plan.secondsPerByte > 0 || options.proven.has_value());
  plan.pin = options.pins.name();
  plan.solveSeconds = best.solveSeconds;
  plan.atPeak = holdersAtPeak(best.problem, best.solution, 10);
  plan.holdings = holdingsOf(best.problem, best.solution.choices);
  const std::vector<int> &choices = best.solution.choices;
  Explainer explainer(model, plan.mesh, best.problem, best.solution);
  plan.reasons = explainChoices(model, explainer, best.problem, choices, options.maxReasons);
  plan.remarks = remarksOn(model, plan, best.problem, best.solution, costs);
  plan.repetitions = repetitionsOf(costs, plan);
  plan.kept = keptValuesOf(costs, plan);
  for (PlanRemark &remark : remarksOnFates(plan))
    plan.remarks.push_back(std::move(remark));
  return plan;
}

Result<Plan> planStep(const StepModel &model, const cluster::Cluster &cluster,
                      const PlannerOptions &given) {
  CLEAVE_TRY(checkOptions(model, given));
  PlannerOptions options = given;
  options.pins.prepare(model);
  CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(cluster, options.ranks));
  std::vector<MeshCandidate> candidates = candidatesFor(model, options);
  CLEAVE_TRY(prepareMeshes(candidates, model, shared, options));
  CLEAVE_TRY_ASSIGN(Best best, search(options, candidates));
  if (!best.candidate)
    return Status::infeasible(best.infeasible);
  return toPlan(model, options, best, candidates);
}

// Adds the mesh that was asked for, with its bound and its network within the budget without rests.
static Status addAsked(const StepModel &model, const cluster::Cluster &shared,
                       const PlannerOptions &options, std::vector<MeshCandidate> &candidates) {
  CLEAVE_TRY(checkOptions(model, options));
  if (!options.mesh)
    return Status::userError("a network and its solution are of one mesh: give --mesh");
  MeshCandidate &candidate = candidates.emplace_back(CoarserMesh{*options.mesh, {}});
  candidate.costs = std::make_unique<Costs>(model, shared, candidate.mesh);
  CLEAVE_TRY_ASSIGN(PlanProblem built, buildProblem(*candidate.costs, options.pins, options.budget,
                                                    {options.choices}));
  CLEAVE_TRY_ASSIGN(solver::Bounded bounded, solver::lowerBound(built.network, options.solve));
  candidate.bound = bounded.seconds;
  for (const auto &[node, rest] : built.rests)
    built.network.nodes[node].choices.forbid(rest.choice);
  candidate.problem = std::move(built);
  return Status::ok();
}

Result<solver::Problem> networkOf(const StepModel &model, const cluster::Cluster &cluster,
                                  const PlannerOptions &given) {
  PlannerOptions options = given;
  options.pins.prepare(model);
  CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(cluster, options.ranks));
  std::vector<MeshCandidate> candidates;
  CLEAVE_TRY(addAsked(model, shared, options, candidates));
  return std::move(candidates[0].problem->network);
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

Result<Plan> planOf(const StepModel &model, const cluster::Cluster &cluster,
                    const PlannerOptions &given, const std::vector<int> &choices) {
  PlannerOptions options = given;
  options.pins.prepare(model);
  CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(cluster, options.ranks));
  std::vector<MeshCandidate> candidates;
  CLEAVE_TRY(addAsked(model, shared, options, candidates));
  MeshCandidate &candidate = candidates[0];
  Best best;
  best.problem = std::move(*candidate.problem);
  const solver::Problem &problem = best.problem.network;
  CLEAVE_TRY(checkGiven(problem, choices));
  best.solution.choices = choices;
  best.solution.cost = solver::totalCost(problem, choices);
  best.solution.peaks = solver::memoryPeaks(problem, choices);
  const Decisions decisions = decide(*candidate.costs, best.problem, choices);
  best.candidate = &candidate;
  best.seconds = secondsOf(*candidate.costs, decisions);
  best.memory.peak = best.memory.arena = best.solution.peaks[0].bytes;
  if (options.memoryOf) {
    CLEAVE_TRY_ASSIGN(best.memory, options.memoryOf(decisions));
  }
  if (!options.budget.holds(best.memory.arena))
    return Status::infeasible("the program of the solution takes ", bytesText(best.memory.arena),
                              ", more than the budget of ", bytesText(options.budget.bytes()),
                              ": the network counts less; solve it with a smaller --memory");
  candidate.outcome = {.isPlanned = true, .seconds = best.seconds, .note = "as given"};
  return toPlan(model, options, best, candidates);
}

Result<Plan> planAround(const StepModel &model, const cluster::Cluster &cluster,
                        const PlannerOptions &given, const StepModel &before,
                        const Decisions &around) {
  PlannerOptions options = given;
  options.pins.prepare(model);
  CLEAVE_TRY_ASSIGN(cluster::Cluster shared, cluster::forRanks(cluster, options.ranks));
  std::vector<MeshCandidate> candidates;
  MeshCandidate &candidate = candidates.emplace_back(CoarserMesh{around.mesh, {}});
  candidate.costs = std::make_unique<Costs>(model, shared, candidate.mesh);
  Best best;
  CLEAVE_TRY_ASSIGN(best.problem, buildProblem(*candidate.costs, options.pins, Budget::unlimited(),
                                               {options.choices}));
  for (const auto &[node, rest] : best.problem.rests)
    best.problem.network.nodes[node].choices.forbid(rest.choice);
  // Decisions that are kept are explained with the choices that they had.
  const std::vector<solver::Node> open = best.problem.network.nodes;
  keepAround(best.problem, model, before, around);
  CLEAVE_TRY_ASSIGN(best.solution,
                    solver::solve(best.problem.network, options.solve).withContext("planner"));
  if (!best.solution.isFound())
    return Status::infeasible("these layouts do not go with the repetitions");
  best.problem.network.nodes = open;
  const Decisions decisions = decide(*candidate.costs, best.problem, best.solution.choices);
  best.candidate = &candidate;
  best.seconds = secondsOf(*candidate.costs, decisions);
  CLEAVE_TRY_ASSIGN(best.memory, options.memoryOf(decisions));
  candidate.bound = 0;
  candidate.outcome = {.isPlanned = true, .seconds = best.seconds};
  return toPlan(model, options, best, candidates);
}

} // namespace cleave::planner
