#include "compiler/planner/search/LeastMemory.h"

#include "compiler/planner/report/Explain.h"
#include "compiler/planner/search/SearchPlan.h"
#include "runtime/base/Units.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace cleave::planner {

namespace {

// How often a plan is searched: for the least memory, and for memory that a refusal can name.
constexpr int kSearches = 30, kConfirmations = 3;
// Where no plan is found in the size of a program that was seen, this share more is tried.
constexpr int64_t kMore = 50;

constexpr int64_t kKiB = 1 << 10;

// Searches plans in other budgets. The first plan that fits is taken: whether there is one does not
// depend on that.
class Budgets {
public:
  Budgets(const Step &step, const cluster::Cluster &cluster, PlannerOptions options)
      : step_(step), cluster_(cluster), options_(std::move(options)) {}

  // The plan within the budget. `seen` has the bytes of the smallest program that was seen;
  // nothing: memory is not the reason. Explain finds plans that Search does not.
  Result<PlannedStep> in(const Budget &budget, WhenTooLarge whenTooLarge = WhenTooLarge::Search) {
    Seen programs;
    options_.budget = budget;
    Result<PlannedStep> found =
        searchPlan(step_, cluster_, options_, {/*isAnyEnough=*/true, whenTooLarge}, programs);
    seen = programs.leastBytes;
    return found;
  }
  // Whether there is a plan in so many bytes.
  Result<bool> suffices(int64_t bytes, WhenTooLarge whenTooLarge) {
    Result<PlannedStep> planned = in(bytes, whenTooLarge);
    if (!planned && planned.status().kind() != StatusKind::Infeasible)
      return planned.status();
    return planned.isOk();
  }

  std::optional<int64_t> seen;

private:
  const Step &step_;
  const cluster::Cluster &cluster_;
  PlannerOptions options_;
};

} // namespace

// The amount to try next: half of what suffices, until an amount was refused; then the smallest
// program that was seen there, and if it suffices 1 % less; then the middle.
static int64_t nextAmount(int64_t enough, int64_t refused, std::optional<int64_t> seen) {
  const int64_t last = enough * 99 / 100;
  if (enough == seen)
    return last;
  return seen && refused < *seen && *seen < last ? *seen
                                                 : std::min(last, refused + (enough - refused) / 2);
}

// The largest amount below the limit; 0: there is none.
static int64_t largestBelow(const std::set<int64_t> &amounts, int64_t limit) {
  const auto next = amounts.lower_bound(limit);
  return next == amounts.begin() ? 0 : *std::prev(next);
}

Result<LeastMemory> leastMemory(const Step &step, const cluster::Cluster &cluster,
                                PlannerOptions options,
                                const std::function<void(const std::string &)> &tell) {
  Budgets budgets(step, cluster, options);
  CLEAVE_TRY_ASSIGN(const PlannedStep fastest, budgets.in(Budget::unlimited()));
  int64_t enough = fastest.plan.arenaBytes;
  std::set<int64_t> refused;
  std::optional<int64_t> seen;
  bool isLeast = false;
  for (int i = 0; i < kSearches && !isLeast; ++i) {
    const int64_t amount = nextAmount(enough, largestBelow(refused, enough), seen);
    const bool isLast = amount == enough * 99 / 100; // refused by what refuses a compilation
    CLEAVE_TRY_ASSIGN(bool suffices, budgets.suffices(amount, isLast ? WhenTooLarge::Explain
                                                                     : WhenTooLarge::Search));
    tell(concat("--memory ", amount, suffices ? ": a plan was found" : ": no plan found"));
    if (suffices) {
      enough = amount;
      continue;
    }
    refused.insert(amount);
    seen = budgets.seen;
    isLeast = isLast;
  }
  options.budget = enough;
  CLEAVE_TRY_ASSIGN(PlannedStep planned, searchPlan(step, cluster, options));
  return LeastMemory{enough, std::move(planned),
                     concat("--memory ", enough, " is the least in which a plan was found; ",
                            isLeast ? "1 % less was refused" : "less was not tried")};
}

// A budget in which a plan is found, if one is near the smallest program that was seen.
static std::optional<std::pair<int64_t, PlanReport>> confirmedNear(Budgets &budgets, int64_t seen) {
  for (int i = 0; i < kConfirmations; ++i) {
    const int64_t needed = (seen + kKiB - 1) / kKiB * kKiB;
    if (Result<PlannedStep> planned = budgets.in(needed))
      return std::make_pair(needed, std::move(planned->plan));
    seen = std::max(budgets.seen.value_or(0), needed + needed / kMore);
  }
  return std::nullopt;
}

Result<PlannedStep> searchOrRefuse(const Step &step, const cluster::Cluster &cluster,
                                   PlannerOptions options) {
  Seen seen;
  Result<PlannedStep> planned = searchPlan(step, cluster, options, Goal(), seen);
  if (planned.status().kind() != StatusKind::Infeasible || !seen.leastBytes)
    return planned;
  const int64_t budget = options.budget.bytes();
  Budgets budgets(step, cluster, options);
  const auto confirmed = confirmedNear(budgets, *seen.leastBytes);
  if (!confirmed)
    return planned;
  const auto &[needed, plan] = *confirmed;
  // What the search itself says has more to tell if it names this amount.
  const bool isNamed = planned.status().message().find(memoryOption(needed)) != std::string::npos;
  if (isNamed && plan.peakBytes > budget)
    return planned;
  return Status::infeasible(refusalText(plan, needed, budget));
}

} // namespace cleave::planner
