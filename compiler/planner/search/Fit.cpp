// The rounds of solving networks and reading programs.
#include "compiler/planner/search/Fit.h"

#include "compiler/planner/network/ReadSolution.h"

#include <algorithm>
#include <cmath>

namespace cleave::planner {

namespace {

// How many networks are solved after the first one that has a budget.
constexpr int kRounds = 6;

// Networks count at most this share more than programs.
constexpr int64_t kHopelessShare = 16;

// Budgets of networks are not told apart if they differ by less than 1/kShare, or by less than
// 1/kShareOfMessage where no plan can fit and only a message needs the smallest program.
constexpr int64_t kShare = 100, kShareOfMessage = 20;

class Fitting {
public:
  Fitting(Costs &costs, const Pins &pins, const FitOptions &options)
      : costs_(costs), pins_(pins), options_(options) {}

  Result<Fitted> run(std::optional<Refined> unlimited) {
    if (unlimited) {
      tried_.refined = std::move(*unlimited);
      CLEAVE_TRY(account(Budget::unlimited()));
    } else {
      CLEAVE_TRY(attempt(Budget::unlimited()));
    }
    if (!isFound() || fits() || options_.whenTooLarge == WhenTooLarge::Stop)
      return finish();
    // A network that counts more than the program gets so much more.
    const int64_t budget = options_.budget.bytes();
    CLEAVE_TRY(attempt(std::max(budget, budget + modelled() - tried_.memory.forBudget(budget))));
    bound_ = std::max(bound_, tried_.refined.solution.lowerBound);
    isProven_ = tried_.refined.solution.status == solver::SolveStatus::Infeasible;
    if (isHopeless() && !findsLeast()) {
      tried_.isCut = true;
      return finish();
    }
    for (int round = 0; round < kRounds && !(isFound() && fits()) && !isBeaten(); ++round) {
      const int64_t next = nextBudget();
      if (next == 0)
        break;
      CLEAVE_TRY(attempt(next));
    }
    return finish();
  }

private:
  bool findsLeast() const { return options_.whenTooLarge == WhenTooLarge::Explain; }
  bool isFound() const { return tried_.refined.solution.isFound(); }
  // Whether no plan within the last budget beats the cutoff.
  bool isBeaten() const {
    return !isFound() && tried_.refined.solution.status != solver::SolveStatus::Infeasible &&
           tried_.refined.solution.lowerBound >= options_.solve.cutoff;
  }
  bool fits() const { return options_.budget.holds(tried_.memory.arena); }
  // The bytes by which the program exceeds the budget.
  int64_t excess() const {
    const int64_t budget = options_.budget.bytes();
    return tried_.memory.forBudget(budget) - budget;
  }
  // The peak by the network, in bytes.
  int64_t modelled() const {
    const std::vector<solver::MemoryPeak> &peaks = tried_.refined.solution.peaks;
    return peaks.empty() ? 0 : peaks[0].bytes;
  }

  // Solves within a budget of the network.
  Status attempt(const Budget &budget) {
    CLEAVE_TRY_ASSIGN(tried_.refined, solveRefining(costs_, pins_, budget, options_.choices,
                                                    options_.solve, options_.onNetwork));
    return account(budget);
  }

  // Reads the program of the solution within a budget of the network.
  Status account(const Budget &budget) {
    seconds_ += tried_.refined.solution.seconds;
    if (!budget.isLimited())
      bound_ = tried_.refined.solution.lowerBound;
    if (!isFound()) {
      const std::vector<int64_t> &proven = tried_.refined.solution.infeasibility.provenBudget;
      infeasible_ = std::max({infeasible_, budget.ofSpace(), proven.empty() ? 0 : proven[0] - 1});
      return Status::ok();
    }
    smallest_ = std::min(smallest_.value_or(modelled()), modelled());
    tried_.memory = {modelled(), modelled()};
    if (options_.memoryOf) {
      const Decisions decisions =
          readSolution(costs_, tried_.refined.problem, tried_.refined.solution.choices);
      CLEAVE_TRY_ASSIGN(tried_.memory, options_.memoryOf(decisions));
    }
    least_ = std::min(least_.value_or(tried_.memory.arena), tried_.memory.arena);
    return Status::ok();
  }

  // Whether the network needs so much more than the budget that no program can fit.
  bool isHopeless() const { return isProven_ && infeasible_ >= mostBudget(); }
  // The largest budget of a network whose program may fit.
  int64_t mostBudget() const {
    return options_.budget.bytes() + options_.budget.bytes() / kHopelessShare;
  }

  // The network's budget after a plan that is too large: its excess less. After a network without
  // a solution: what its smallest choices need. If these are known not to help: the middle of the
  // largest budget without a solution and the smallest solution; 0 where these are close.
  int64_t nextBudget() {
    const std::vector<int64_t> &needed = tried_.refined.solution.infeasibility.smallestBudget;
    const int64_t next = isFound() ? modelled() - excess() : needed.empty() ? 0 : needed[0];
    if (!findsLeast() && infeasible_ < mostBudget() && next > mostBudget()) {
      tried_.isCut = true;
      return mostBudget();
    }
    if (infeasible_ < next && !(smallest_ && next >= *smallest_))
      return next;
    if (!smallest_)
      return 0;
    const int64_t gap = *smallest_ - infeasible_;
    const int64_t share = isHopeless() ? kShareOfMessage : kShare;
    return gap > *smallest_ / share ? infeasible_ + gap / 2 : 0;
  }

  Result<Fitted> finish() {
    solver::Solution &solution = tried_.refined.solution;
    tried_.refined.problem.network.spaces[0].budget = options_.budget.ofSpace();
    solution.seconds = seconds_;
    if (isFound() && fits())
      setBound(solution);
    else
      explainLeast(solution);
    return std::move(tried_);
  }

  // Nothing fits: states the smallest program instead of what the network counts.
  void explainLeast(solver::Solution &solution) {
    solver::Infeasibility &why = solution.infeasibility;
    if (isFound()) {
      why.bindingNodes = solution.peaks.empty() ? std::vector<int>() : solution.peaks[0].liveNodes;
      solution.choices.clear();
      solution.status = isProven_ ? solver::SolveStatus::Infeasible : solver::SolveStatus::NotFound;
    }
    if (least_ && (!isHopeless() || findsLeast()))
      why.smallestBudget = {*least_};
    else
      tried_.isCut = true;
    solution.lowerBound = bound_;
  }

  void setBound(solver::Solution &solution) const {
    solution.lowerBound = std::min(bound_, solution.cost);
    const double above = solution.cost - solution.lowerBound;
    const bool isClosed = above <= options_.solve.acceptedGap * std::abs(solution.cost);
    solution.gap = isClosed ? 0 : above / std::abs(solution.cost);
    solution.status = isClosed ? solver::SolveStatus::Optimal : solver::SolveStatus::Feasible;
  }

  Costs &costs_;
  const Pins &pins_;
  const FitOptions &options_;
  Fitted tried_;                    // the last attempt
  int64_t infeasible_ = 0;          // the largest budget of a network without a solution
  std::optional<int64_t> smallest_; // the least peak of a solution by its network
  bool isProven_ = false;           // that no plan fits by the network
  std::optional<int64_t> least_;    // bytes of the smallest program
  double bound_ = -solver::kForbidden, seconds_ = 0;
};

} // namespace

Result<Fitted> solveToFit(Costs &costs, const Pins &pins, const FitOptions &options,
                          std::optional<Refined> unlimited) {
  return Fitting(costs, pins, options).run(std::move(unlimited));
}

} // namespace cleave::planner
