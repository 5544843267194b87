#include "passes/driver/LeastMemory.h"

#include "compiler/planner/report/Explain.h"
#include "runtime/base/Units.h"

#include <algorithm>

using namespace mlir;

namespace cleave::driver {

namespace {

using planner::WhenTooLarge;

// How often a plan is searched: for the least memory, and for memory that a refusal can name.
constexpr int kSearches = 30, kConfirmations = 3;
// Where no plan is found in the size of a program that was seen, this share more is tried.
constexpr int64_t kMore = 50;

constexpr int64_t kKiB = 1 << 10;

// Searches plans in other budgets. The first plan that fits is taken: whether there is one does not
// depend on that.
class Budgets {
public:
  Budgets(ModuleOp module, const cluster::Cluster &cluster, planner::PlannerOptions options)
      : module_(module), cluster_(cluster), options_(std::move(options)) {
    options_.isAnyEnough = true;
    options_.onTooLarge = [this](int64_t bytes) { seen = bytes; };
  }

  // The plan within the budget. If there is none, `seen` has the bytes of the smallest program;
  // nothing: memory is not the reason. Explain finds plans that Search does not.
  Result<Decided> in(const planner::Budget &budget,
                     WhenTooLarge whenTooLarge = WhenTooLarge::Search) {
    seen.reset();
    options_.budget = budget;
    options_.whenTooLarge = whenTooLarge;
    return decideStep(module_, cluster_, options_);
  }
  // Whether there is a plan in so many bytes.
  Result<bool> suffices(int64_t bytes, WhenTooLarge whenTooLarge) {
    Result<Decided> decided = in(bytes, whenTooLarge);
    if (!decided && decided.status().kind() != StatusKind::Infeasible)
      return decided.status();
    return decided.isOk();
  }

  std::optional<int64_t> seen;

private:
  ModuleOp module_;
  const cluster::Cluster &cluster_;
  planner::PlannerOptions options_;
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

Result<LeastMemory> leastMemory(ModuleOp module, const cluster::Cluster &cluster,
                                planner::PlannerOptions options,
                                const std::function<void(const std::string &)> &tell) {
  Budgets budgets(module, cluster, options);
  CLEAVE_TRY_ASSIGN(Decided fastest, budgets.in(planner::Budget::unlimited()));
  int64_t enough = fastest.plan.arenaBytes, refused = 0;
  std::optional<int64_t> seen;
  auto isLeast = [&] { return refused == enough * 99 / 100; };
  for (int i = 0; i < kSearches && !isLeast(); ++i) {
    const int64_t amount = nextAmount(enough, refused, seen);
    const bool isLast = amount == enough * 99 / 100; // refused by what refuses a compilation
    CLEAVE_TRY_ASSIGN(bool suffices, budgets.suffices(amount, isLast ? WhenTooLarge::Explain
                                                                     : WhenTooLarge::Search));
    (suffices ? enough : refused) = amount;
    tell(concat("--memory ", amount, suffices ? ": a plan was found" : ": no plan found"));
    if (refused >= enough)
      refused = 0; // a smaller amount suffices all the same
    if (!suffices)
      seen = budgets.seen;
  }
  options.budget = enough;
  CLEAVE_TRY_ASSIGN(Decided decided, decideStep(module, cluster, options));
  return LeastMemory{enough, std::move(decided),
                     concat("--memory ", enough, " is the least in which a plan was found; ",
                            isLeast() ? "1 % less was refused" : "less was not tried")};
}

// A budget in which a plan is found, if one is near the smallest program that was seen.
static std::optional<std::pair<int64_t, planner::Plan>> confirmedNear(Budgets &budgets,
                                                                      int64_t seen) {
  for (int i = 0; i < kConfirmations; ++i) {
    const int64_t needed = (seen + kKiB - 1) / kKiB * kKiB;
    if (Result<Decided> decided = budgets.in(needed))
      return std::make_pair(needed, std::move(decided->plan));
    seen = std::max(budgets.seen.value_or(0), needed + needed / kMore);
  }
  return std::nullopt;
}

Result<Decided> decideOrRefuse(ModuleOp module, const cluster::Cluster &cluster,
                               planner::PlannerOptions options) {
  std::optional<int64_t> seen;
  options.onTooLarge = [&](int64_t bytes) { seen = bytes; };
  Result<Decided> decided = decideStep(module, cluster, options);
  if (decided.status().kind() != StatusKind::Infeasible || !seen)
    return decided;
  const int64_t budget = options.budget.bytes();
  Budgets budgets(module, cluster, options);
  const auto confirmed = confirmedNear(budgets, *seen);
  if (!confirmed)
    return decided;
  const auto &[needed, plan] = *confirmed;
  // What the search itself says has more to tell if it names this amount.
  const bool isNamed =
      decided.status().message().find(planner::memoryOption(needed)) != std::string::npos;
  if (isNamed && plan.peakBytes > budget)
    return decided;
  return Status::infeasible(planner::refusalText(plan, needed, budget));
}

} // namespace cleave::driver
