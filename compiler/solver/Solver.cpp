// Presolve, the solve of the network, and the report.
#include "compiler/solver/Solver.h"

#include "compiler/solver/Check.h"
#include "compiler/solver/NetworkSolve.h"
#include "compiler/solver/Presolve.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace cleave::solver {

// Presolve, and the steps on the presolved network.
class Solve {
public:
  Solve(const Problem &problem, const SolveOptions &options)
      : options_(options), presolve_(problem),
        steps_(presolve_.result(), problem.spaces, remaining()) {}

  // Solves the problem of the constructor.
  Solution run(const Problem &problem, double cutoff, bool closesGap) {
    options_.cutoff = cutoff;
    steps_.setLimits(cutoff, closesGap);
    Solution solution;
    solution.shadowPrice.assign(problem.spaces.size(), 0.0);
    if (presolve_.contradiction() >= 0) {
      explainContradiction(problem, solution, presolve_.contradiction());
    } else {
      double bound = steps_.run();
      solution.iterations = steps_.iterations();
      setShadowPrices(solution);
      if (steps_.isProven(bound))
        bound = std::max(bound, std::min(search().bestCost(), options_.cutoff));
      if (search().bestCost() < kForbidden)
        report(problem, solution, bound);
      else
        explainMemory(problem, solution, bound);
    }
    solution.seconds = elapsed();
    return solution;
  }

  // Raises the bound that ignores memory by one step.
  void raise(Bounded &bounded) {
    const bool isPermitted = presolve_.contradiction() < 0;
    bounded.seconds = isPermitted ? steps_.raiseFirstBound() : kForbidden;
    bounded.isFinal = !isPermitted || steps_.isFirstBoundFinal();
  }

private:
  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  // The options with the time that is left.
  SolveOptions remaining() const {
    SolveOptions options = options_;
    options.maxSeconds -= elapsed();
    return options;
  }

  const Search &search() const { return steps_.search(); }

  void setShadowPrices(Solution &solution) const {
    for (size_t r = 0; r < steps_.prices().size(); ++r)
      solution.shadowPrice[presolve_.result().rows[r].space] += steps_.prices()[r];
  }

  void report(const Problem &problem, Solution &solution, double bound) const {
    solution.choices = presolve_.expand(search().best());
    solution.cost = totalCost(problem, solution.choices);
    solution.peaks = memoryPeaks(problem, solution.choices);
    // Sums in a different order differ by rounding.
    bool closed = solution.cost - bound <= options_.acceptedGap * std::abs(solution.cost);
    solution.lowerBound = closed ? solution.cost : bound;
    solution.gap = closed ? 0 : (solution.cost - bound) / std::abs(solution.cost);
    solution.status = closed ? SolveStatus::Optimal : SolveStatus::Feasible;
  }

  void explainContradiction(const Problem &problem, Solution &solution, int node) const {
    solution.status = SolveStatus::Infeasible;
    solution.lowerBound = kForbidden;
    solution.infeasibility.bindingNodes = {node};
    solution.infeasibility.message =
        concat("no choice of node '", problem.nodes[node].name,
               "' is permitted together with the choices of its neighbours");
  }

  void explainMemory(const Problem &problem, Solution &solution, double bound) {
    const bool proven = bound == kForbidden;
    solution.status = proven ? SolveStatus::Infeasible : SolveStatus::NotFound;
    solution.lowerBound = bound;
    Infeasibility &why = solution.infeasibility;
    why.provenBudget = steps_.provenBudget();
    if (!search().leastExceeding()) {
      why.message = proven ? "no combination of choices is permitted"
                           : "no permitted combination of choices was found";
      return;
    }
    std::vector<MemoryPeak> peaks =
        memoryPeaks(problem, presolve_.expand(*search().leastExceeding()));
    double most = 0;
    for (size_t s = 0; s < peaks.size(); ++s) {
      why.smallestBudget.push_back(std::max<int64_t>(peaks[s].bytes, 0));
      double budget = std::max<double>(1, static_cast<double>(problem.spaces[s].budget));
      double excess = static_cast<double>(peaks[s].bytes) / budget;
      if (peaks[s].bytes > problem.spaces[s].budget && excess > most) {
        most = excess;
        why.space = static_cast<int>(s);
        why.time = peaks[s].time;
        why.bindingNodes = peaks[s].liveNodes;
      }
    }
    if (why.space < 0)
      return;
    const MemorySpace &space = problem.spaces[why.space];
    why.message = concat("memory space '", space.name, "' has ", space.budget, " bytes, but ",
                         why.smallestBudget[why.space], " bytes are needed at time ", why.time,
                         proven ? "" : " by the least demanding choices that were found");
  }

  SolveOptions options_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Presolve presolve_;
  NetworkSolve steps_;
};

Result<Bounded> beginBound(const Problem &problem, const SolveOptions &options) {
  CLEAVE_TRY(validate(problem));
  return Bounded{.begun = std::make_shared<Solve>(problem, options)};
}

void raise(Bounded &bounded) {
  if (!bounded.isFinal)
    bounded.begun->raise(bounded);
}

Result<Bounded> lowerBound(const Problem &problem, const SolveOptions &options) {
  CLEAVE_TRY_ASSIGN(Bounded bounded, beginBound(problem, options));
  while (!bounded.isFinal)
    raise(bounded);
  return bounded;
}

Result<Solution> solve(const Problem &problem, const SolveOptions &options,
                       std::shared_ptr<Solve> begun) {
  if (!begun) {
    CLEAVE_TRY(validate(problem));
    begun = std::make_shared<Solve>(problem, options);
  }
  return begun->run(problem, options.cutoff, options.closesGap);
}

} // namespace cleave::solver
