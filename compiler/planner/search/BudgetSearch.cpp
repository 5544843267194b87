#include "compiler/planner/search/BudgetSearch.h"

#include "compiler/planner/remat/RematPins.h"
#include "compiler/planner/report/Explain.h"
#include "runtime/base/Units.h"

#include <algorithm>
#include <utility>

namespace cleave::planner {

// Plans that are split more finely first need at most this share of the budget more, and give way
// to recomputation in a few rounds, whose targets differ by a share of it.
static constexpr int64_t kLargerShare = 4, kTargetShare = 20;
static constexpr int kSplitRounds = 3;
// How often an op may be recomputed where nothing fits with one recomputation of each. Networks of
// recomputation grow with it.
static constexpr int kMaxRecomputations = 2;
// Plans within a budget are not searched if the smallest program that was seen needs more than this
// multiple of it: layouts that are split more finely save less.
static constexpr int64_t kHopeless = 2;

BudgetSearch::BudgetSearch(const Trials &trials, const PinnedRemat &pinned,
                           const cluster::Cluster &cluster)
    : trials_(trials), pinned_(pinned), cluster_(cluster), kept_(policyOf(trials.model(), pinned)),
      remat_(trials, pinned) {}

Result<PlannedStep> BudgetSearch::jointly(const std::vector<JointMesh> &meshes) {
  CLEAVE_TRY_ASSIGN(const std::unique_ptr<Costs> costs, searchAroundBase(meshes));
  if (!remat_.isGood() && maySplit())
    CLEAVE_TRY(searchFastest(*costs));
  if (!remat_.isGood() && isHopeless())
    return refusal(/*isProven=*/false);
  if (!remat_.isGood() && maySplit())
    CLEAVE_TRY(remat_.keepBest(trials_.plan(kept_, fasterOrWhy())));
  if (!remat_.best())
    CLEAVE_TRY(searchOften(*costs));
  if (std::optional<PlannedStep> best = remat_.takeBest())
    return std::move(*best);
  if (trials_.goal().whenTooLarge != WhenTooLarge::Explain)
    return Status::infeasible("no plan was found that fits");
  return explain(costs->mesh());
}

Result<PlannedStep> BudgetSearch::shardingFirst() {
  CLEAVE_TRY_ASSIGN(const PlannedStep whole, trials_.plan(kept_, trials_.withoutLimit()));
  Costs costs(trials_.model(), cluster_, whole.plan.mesh);
  CLEAVE_TRY(remat_.search({costs, whole.plan}));
  if (std::optional<PlannedStep> best = remat_.takeBest())
    return std::move(*best);
  return Status::infeasible("with the layouts that are best without a limit, ",
                            "no recomputation was found that fits into ",
                            bytesText(trials_.budget()),
                            "; without the pin sharding-first layouts may be split more finely");
}

Status BudgetSearch::refuse(const std::vector<JointMesh> &meshes) {
  CLEAVE_TRY(searchAroundBase(meshes).status());
  const RematPolicy full = withPinned(trials_.model(), fullRecompute(trials_.model()), pinned_);
  const Status status = trials_.plan(full, trials_.withoutLimit()).status();
  CLEAVE_TRY(unlessInfeasible(status));
  return trials_.seen().smallest ? refusal(/*isProven=*/true)
                                 : status; // no plan: memory is not the reason
}

// Searches a policy for layouts that were chosen together with one, if there are any. Returns the
// costs on their mesh, on which the other searches go on.
Result<std::unique_ptr<Costs>>
BudgetSearch::searchAroundBase(const std::vector<JointMesh> &meshes) {
  CLEAVE_TRY_ASSIGN(std::optional<Base> base,
                    chooseBase(meshes, trials_.model(), cluster_, trials_.options(), pinned_));
  const Mesh &mesh = base ? base->plan->mesh : meshes[0].mesh;
  auto costs = std::make_unique<Costs>(trials_.model(), cluster_, mesh);
  if (base)
    CLEAVE_TRY(remat_.search({*costs, *base->plan}, std::move(base->chosen)));
  return costs;
}

// Searches a policy for the fastest layouts, and tries the recipes. These plans are not kept, but
// show which policy saves most memory. Then tries layouts that are split more finely, with this
// policy.
Status BudgetSearch::searchFastest(Costs &costs) {
  const Mesh &mesh = costs.mesh();
  CLEAVE_TRY_ASSIGN(const PlannedStep whole,
                    trials_.plan(kept_, onMesh(trials_.withoutLimit(), mesh)));
  CLEAVE_TRY(remat_.search({costs, whole.plan, /*isAround=*/false}));
  const StepModel &model = trials_.model();
  for (const RematPolicy &recipe : {selectiveRecompute(model), fullRecompute(model)})
    CLEAVE_TRY(remat_.tryOn(mesh, recipe).status());
  if (isHopeless())
    return Status::ok();
  CLEAVE_TRY(remat_.keepBest(trials_.plan(remat_.bestTried(), onMesh(fasterOrWhy(), mesh))));
  return maySplit() ? searchFiner(costs) : Status::ok();
}

// Chooses a policy for a plan that is split more finely already, such that it needs not much more
// than the budget.
Status BudgetSearch::searchFiner(Costs &costs) {
  const int64_t budget = trials_.budget();
  const TrialOptions options = onMesh(faster(), costs.mesh());
  TrialOptions larger = options;
  larger.budget = budget + budget / kLargerShare;
  const Result<PlannedStep> base = trials_.plan(kept_, larger);
  CLEAVE_TRY(unlessInfeasible(base.status()));
  int64_t target = budget;
  for (int round = 0; base && round < kSplitRounds; ++round, target -= budget / kTargetShare) {
    const Result<ChosenRemat> chosen =
        chooseRemat(costs, base->plan, pinned_, target, options.solve);
    CLEAVE_TRY(unlessInfeasible(chosen.status()));
    if (!chosen || !chosen->isFitting)
      break;
    Result<PlannedStep> planned =
        trials_.plan(withPinned(trials_.model(), chosen->policy, pinned_), options);
    if (planned)
      return remat_.keepBest(std::move(planned));
    CLEAVE_TRY(unlessInfeasible(planned.status()));
  }
  return Status::ok();
}

// Searches a policy that recomputes an op several times, for layouts of a plan that keeps
// everything.
Status BudgetSearch::searchOften(Costs &costs) {
  CLEAVE_TRY_ASSIGN(const PlannedStep whole,
                    trials_.plan(kept_, onMesh(trials_.withoutLimit(), costs.mesh())));
  return remat_.search({costs, whole.plan, /*isAround=*/true, kMaxRecomputations});
}

// Whether even the smallest program takes so much more than the budget that none within it is worth
// a search.
bool BudgetSearch::isHopeless() const {
  const std::optional<PlanReport> &smallest = trials_.seen().smallest;
  return !remat_.best() && smallest && smallest->arenaBytes > kHopeless * trials_.budget();
}

// Whether layouts that are split more finely may be better than the best plan. Not if keeping
// everything takes so much more than the budget, nor where networks of layouts, which know one
// micro-batch, count a fraction of the bytes of a stage.
bool BudgetSearch::maySplit() const {
  const bool isInFlight = std::ranges::any_of(
      trials_.model().inFlight, [](int64_t microBatches) { return microBatches > 1; });
  return !remat_.best() ||
         (!isInFlight && trials_.seen().whole->peakBytes <= kHopeless * trials_.budget());
}

// Options for plans that are faster than the best one.
TrialOptions BudgetSearch::faster() const {
  TrialOptions options = trials_.within(WhenTooLarge::Search);
  options.cutoffSeconds = remat_.cutoff();
  return options;
}

// Like faster(). Until a plan is found, a trial that fails also looks for the smallest program, if
// the goal asks for an explanation.
TrialOptions BudgetSearch::fasterOrWhy() const {
  TrialOptions options = faster();
  if (!remat_.best())
    options.whenTooLarge = trials_.goal().whenTooLarge;
  return options;
}

Status BudgetSearch::refusal(bool isProven) const {
  const PlanReport &smallest = *trials_.seen().smallest;
  return Status::infeasible(refusalText(smallest, smallest.arenaBytes, trials_.budget(), isProven));
}

// The message that nothing fits: the failure with the smaller program of keeping everything and of
// the best policy that was tried on the mesh. Most of these trials have failed before.
Result<PlannedStep> BudgetSearch::explain(const Mesh &mesh) const {
  const TrialOptions options = trials_.within(WhenTooLarge::Explain);
  Result<PlannedStep> kept = trials_.plan(kept_, options);
  CLEAVE_TRY(unlessInfeasible(kept.status()));
  if (kept)
    return kept;
  const std::optional<int64_t> neededKept = trials_.seen().lastBytes;
  Result<PlannedStep> best = trials_.plan(remat_.bestTried(), onMesh(options, mesh));
  const std::optional<int64_t> neededBest = trials_.seen().lastBytes;
  const bool needsLess = neededBest && (!neededKept || *neededBest < *neededKept);
  return best || needsLess ? std::move(best) : std::move(kept);
}

} // namespace cleave::planner
