// The steps of a solve, in order.
#include "compiler/solver/Solver.h"

#include "compiler/solver/Branch.h"
#include "compiler/solver/Check.h"
#include "compiler/solver/LeastPeak.h"
#include "compiler/solver/Messages.h"
#include "compiler/solver/Presolve.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

namespace cleave::solver {

namespace {

class Solve {
public:
  Solve(const Problem &problem, const SolveOptions &options)
      : problem_(problem), options_(options), start_(std::chrono::steady_clock::now()),
        presolve_(problem), network_(presolve_.result()), search_(network_, options.seed) {}

  Solution run() {
    Solution solution;
    solution.shadowPrice.assign(problem_.spaces.size(), 0.0);
    if (presolve_.contradiction() >= 0) {
      explainContradiction(solution, presolve_.contradiction());
    } else {
      double bound = boundAndSearch(solution);
      if (isClosed(bound))
        bound = std::max(bound, std::min(search_.bestCost(), options_.cutoff));
      if (search_.bestCost() < kForbidden)
        report(solution, bound);
      else
        explainMemory(solution, bound);
    }
    solution.seconds = elapsed();
    return solution;
  }

  double firstBound() {
    if (presolve_.contradiction() >= 0)
      return kForbidden;
    elimination_ = makeElimination(network_);
    setCosts(network_);
    return elimination_->minimize(costs_) + network_.constant;
  }

private:
  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  bool isLate() const { return elapsed() > options_.maxSeconds; }

  bool isClosed(double bound) const {
    return isEnough(bound, search_.bestCost(), options_.cutoff, options_.acceptedGap);
  }

  // Takes large tables if elimination is then exact and one evaluation is cheap. Tables between the
  // two sizes would change nothing: the order, and the work of exact elimination, are the same.
  std::unique_ptr<Elimination> makeElimination(const Network &network) const {
    constexpr int64_t kAffordable = 200'000'000; // additions of one evaluation
    constexpr int64_t kLarge = int64_t(1) << 24; // entries
    if (options_.maxTableEntries < kLarge) {
      auto elimination = std::make_unique<Elimination>(network, kLarge);
      if (elimination->isExact() && elimination->work() <= kAffordable)
        return elimination;
    }
    return std::make_unique<Elimination>(network, options_.maxTableEntries);
  }

  // The number of iterations that maxWork affords. Additions are counted instead of seconds, so
  // that the limit is the same on every machine.
  int affordable(int wanted, int least) const {
    const double work = static_cast<double>(elimination_->work() + 1);
    double many = static_cast<double>(options_.maxWork) / work;
    return std::min(wanted, std::max(least, static_cast<int>(std::min(many, 1e9))));
  }

  // Returns a lower bound; kForbidden proves that nothing fits.
  double boundAndSearch(Solution &solution) {
    Prices start(network_.rows.size(), 0.0);
    double bound = -kForbidden;
    elimination_ = makeElimination(network_);
    setCosts(network_);
    if (elimination_->isExact()) { // sufficient if memory does not bind
      bound = ascendFrom(start, 1).bound;
      solution.iterations = 1;
      if (bound == kForbidden || isClosed(bound))
        return bound;
    }
    // A few iterations with small tables often suffice to prove that nothing fits.
    if (search_.bestCost() == kForbidden && provenInfeasible(20, int64_t(1) << 12))
      return kForbidden;
    prepare(start, bound, solution.iterations);
    if (isClosed(bound)) {
      setShadowPrices(solution, start);
      return bound;
    }
    // A short ascent first: if it finds no solution, infeasibility is tested next.
    constexpr int kShortAscent = 25;
    const int iterations = affordable(options_.maxIterations, 10);
    Ascent root = ascendFrom(start, std::min(iterations, kShortAscent));
    if (root.bound < kForbidden && search_.bestCost() == kForbidden && !isClosed(root.bound)) {
      raisePrices(root.prices);
      if (search_.bestCost() == kForbidden && provenInfeasible(60, options_.maxTableEntries))
        return kForbidden;
    }
    solution.iterations += root.iterations;
    if (root.bound < kForbidden && !isClosed(root.bound) && iterations > kShortAscent) {
      root = ascendFrom(root.prices, iterations - kShortAscent);
      solution.iterations += root.iterations;
    }
    root.bound = std::max(root.bound, bound);
    setShadowPrices(solution, root.prices);
    if (root.bound == kForbidden || isClosed(root.bound))
      return root.bound;
    raisePrices(root.prices);
    return closeGap(root);
  }

  // If elimination is inexact or slow, messages first tighten the network and find prices: one pass
  // to find a solution, a second one with steps that fit the distance between it and the bound.
  void prepare(Prices &prices, double &bound, int &iterations) {
    AscentOptions options = ascentOptions(options_.maxIterations);
    if (elimination_->isExact() && affordable(options.iterations, 0) == options.iterations)
      return;
    const int passes = elimination_->isExact() ? 1 : 2;
    for (int pass = 0; pass < passes && !isClosed(bound); ++pass) {
      Tightened tightened = tighten(network_, prices, options, candidate(prices));
      prices = std::move(tightened.prices);
      bound = std::max(bound, tightened.bound);
      iterations += tightened.iterations;
      if (isClosed(bound))
        return;
      if (!elimination_->isExact()) {
        tightNetwork_ = std::move(tightened.network);
        elimination_ = makeElimination(tightNetwork_);
        setCosts(tightNetwork_);
      }
      if (search_.bestCost() == kForbidden)
        raisePrices(prices);
      if (pass + 1 < passes)
        searchParts(prices, bound, options_.maxSearchRounds / 4, 0.3);
    }
  }

  void setCosts(const Network &network) {
    costs_.clear();
    for (const NetworkNode &node : network.nodes)
      costs_.push_back(node.cost);
  }

  const Network &tight() const { return elimination_->isExact() ? network_ : tightNetwork_; }

  AscentOptions ascentOptions(int iterations) const {
    AscentOptions options;
    options.iterations = iterations;
    options.acceptedGap = options_.acceptedGap;
    options.cutoff = options_.cutoff;
    options.isLate = [this] { return elapsed() > 0.5 * options_.maxSeconds; };
    return options;
  }

  Candidate candidate(const Prices &prices) {
    return [this, &prices, calls = 0](const std::vector<int> &choices) mutable {
      if (!search_.offer(choices) && calls++ % 10 == 0)
        search_.repair(choices, prices);
      return search_.bestCost();
    };
  }

  Ascent ascendFrom(const Prices &start, int iterations) {
    return ascend(tight(), *elimination_, costs_, start, ascentOptions(iterations),
                  candidate(start));
  }

  // Tries rising multiples of the best prices until their choices fit.
  void raisePrices(const Prices &prices) {
    double factor = 1;
    for (int k = 0; k < 24 && !isLate(); ++k) {
      Prices raised = prices;
      for (double &price : raised)
        price *= factor;
      elimination_->minimize(pricedCosts(tight(), costs_, raised));
      std::vector<int> choices = elimination_->decode();
      if (search_.offer(choices))
        break;
      search_.repair(choices, raised);
      factor *= k < 8 ? 1.02 : 1.4;
    }
  }

  // Computes the least peak of every space; returns whether one of them exceeds its budget.
  bool provenInfeasible(int iterations, int64_t maxTableEntries) {
    provenBudget_.assign(problem_.spaces.size(), 0);
    bool proven = false;
    for (size_t s = 0; s < problem_.spaces.size() && !isLate(); ++s) {
      provenBudget_[s] =
          leastPeak(network_, static_cast<int>(s), iterations, maxTableEntries, search_);
      proven |= provenBudget_[s] > problem_.spaces[s].budget;
    }
    return proven;
  }

  // Re-solves parts until the bound is met, nothing has improved for long, or a share of maxSeconds
  // has passed.
  void searchParts(const Prices &prices, double bound, int rounds, double timeShare) {
    const int patience = 40 + rounds / 4;
    for (int k = 0, idle = 0; k < rounds && idle < patience && !isClosed(bound); ++k) {
      idle = search_.improve(prices) ? 0 : idle + 1;
      if (elapsed() > timeShare * options_.maxSeconds)
        break;
    }
  }

  // Searches parts and branches until the bound or a limit is reached.
  double closeGap(const Ascent &root) {
    const double bound = root.bound;
    searchParts(root.prices, bound, options_.maxSearchRounds, 0.9);
    if (isClosed(bound))
      return bound;
    constexpr int kWorthwhile = 50; // fewer branches rarely close a gap
    BranchOptions branchOptions;
    branchOptions.maxBranches = std::min(
        options_.maxBranches, affordable(INT32_MAX, 0) / branchOptions.iterationsPerBranch);
    if (branchOptions.maxBranches < std::min(kWorthwhile, options_.maxBranches))
      return bound;
    branchOptions.acceptedGap = options_.acceptedGap;
    branchOptions.cutoff = options_.cutoff;
    branchOptions.isLate = [this] { return isLate(); };
    BranchResult result = branch(tight(), *elimination_, root, search_, branchOptions);
    return std::max(bound, result.bound);
  }

  void setShadowPrices(Solution &solution, const Prices &prices) const {
    for (size_t r = 0; r < prices.size(); ++r)
      solution.shadowPrice[network_.rows[r].space] += prices[r];
  }

  void report(Solution &solution, double bound) const {
    solution.choices = presolve_.expand(search_.best());
    solution.cost = totalCost(problem_, solution.choices);
    solution.peaks = memoryPeaks(problem_, solution.choices);
    // Sums in a different order differ by rounding.
    bool closed = solution.cost - bound <= options_.acceptedGap * std::abs(solution.cost);
    solution.lowerBound = closed ? solution.cost : bound;
    solution.gap = closed ? 0 : (solution.cost - bound) / std::abs(solution.cost);
    solution.status = closed ? SolveStatus::Optimal : SolveStatus::Feasible;
  }

  void explainContradiction(Solution &solution, int node) const {
    solution.status = SolveStatus::Infeasible;
    solution.lowerBound = kForbidden;
    solution.infeasibility.bindingNodes = {node};
    solution.infeasibility.message =
        concat("no choice of node '", problem_.nodes[node].name,
               "' is permitted together with the choices of its neighbours");
  }

  void explainMemory(Solution &solution, double bound) {
    const bool proven = bound == kForbidden;
    solution.status = proven ? SolveStatus::Infeasible : SolveStatus::NotFound;
    solution.lowerBound = bound;
    Infeasibility &why = solution.infeasibility;
    why.provenBudget = provenBudget_;
    if (!search_.leastExceeding()) {
      why.message = proven ? "no combination of choices is permitted"
                           : "no permitted combination of choices was found";
      return;
    }
    std::vector<MemoryPeak> peaks =
        memoryPeaks(problem_, presolve_.expand(*search_.leastExceeding()));
    double most = 0;
    for (size_t s = 0; s < peaks.size(); ++s) {
      why.smallestBudget.push_back(std::max<int64_t>(peaks[s].bytes, 0));
      double budget = std::max<double>(1, static_cast<double>(problem_.spaces[s].budget));
      double excess = static_cast<double>(peaks[s].bytes) / budget;
      if (peaks[s].bytes > problem_.spaces[s].budget && excess > most) {
        most = excess;
        why.space = static_cast<int>(s);
        why.time = peaks[s].time;
        why.bindingNodes = peaks[s].liveNodes;
      }
    }
    if (why.space < 0)
      return;
    const MemorySpace &space = problem_.spaces[why.space];
    why.message = concat("memory space '", space.name, "' has ", space.budget, " bytes, but ",
                         why.smallestBudget[why.space], " bytes are needed at time ", why.time,
                         proven ? "" : " by the least demanding choices that were found");
  }

  const Problem &problem_;
  const SolveOptions &options_;
  std::chrono::steady_clock::time_point start_;
  Presolve presolve_;
  const Network &network_;
  Search search_;
  Network tightNetwork_;                     // an equivalent form, used if elimination is inexact
  std::unique_ptr<Elimination> elimination_; // of tight()
  NodeCosts costs_;                          // of tight()
  std::vector<int64_t> provenBudget_;
};

} // namespace

Result<double> lowerBound(const Problem &problem, const SolveOptions &options) {
  CLEAVE_TRY(validate(problem));
  return Solve(problem, options).firstBound();
}

Result<Solution> solve(const Problem &problem, const SolveOptions &options) {
  CLEAVE_TRY(validate(problem));
  return Solve(problem, options).run();
}

} // namespace cleave::solver
