// NetworkSolve: the steps of a solve on a presolved network.
//
// Prices on the memory rows (Bound.h) around elimination (Elimination.h), preceded by message
// passing where that is inexact or slow (Messages.h) -> repair and search of parts (Search.h) ->
// choices that no better solution takes are dropped (Fixing.h), and what is left is presolved and
// solved in the same way, in smaller tables -> branch and bound (Branch.h) if nothing more can be
// dropped.
#pragma once

#include "compiler/solver/Messages.h"
#include "compiler/solver/Search.h"
#include "compiler/solver/Solver.h"

#include <chrono>
#include <deque>
#include <memory>
#include <optional>

namespace cleave::solver {

// A solve of one network. Keeps references to its arguments.
class NetworkSolve {
public:
  // `round`: how often choices have been dropped before.
  NetworkSolve(const Network &network, const std::vector<MemorySpace> &spaces,
               const SolveOptions &options, int round = 0);

  // Only solutions below are of interest from now on; whether run() closes the gap.
  void setLimits(double cutoff, bool closesGap) {
    options_.cutoff = cutoff;
    options_.closesGap = closesGap;
  }
  // Begins with these prices, and with these choices, if any, as a solution.
  void startFrom(Prices prices, const std::optional<std::vector<int>> &choices);
  // Raises a lower bound that ignores memory by one step, and returns it; run() continues from what
  // was found.
  double raiseFirstBound();
  // Whether further steps would raise it little.
  bool isFirstBoundFinal() const { return isFirstBoundFinal_; }
  // Returns a lower bound on all solutions below SolveOptions::cutoff; kForbidden proves that there
  // are none and that nothing fits. May be called again to close a gap.
  double run();

  // The solutions found.
  const Search &search() const { return search_; }
  // Of the best bound on this network, per row.
  const Prices &prices() const { return prices_; }
  // Of the bounding loop.
  int iterations() const { return iterations_; }
  // Per space a proven lower bound on the bytes that any solution needs; empty if there was no
  // question.
  const std::vector<int64_t> &provenBudget() const { return provenBudget_; }
  // Whether the bound is close enough to the best solution or the cutoff to end the solve.
  bool isClosed(double bound) const;
  // Whether it differs from them by rounding only.
  bool isProven(double bound) const;

private:
  double elapsed() const;
  bool isLate(double share) const { return elapsed() > share * options_.maxSeconds; }
  bool isExact() const { return elimination_ && elimination_->isExact(); }
  int affordable(int wanted, int least) const;
  void begin();
  void setCosts(const Network &network);
  void setTightNetwork(Network network);
  // The form of the network that elimination works on.
  const Network &tight() const { return isExact() ? network_ : tightNetwork_; }
  AscentOptions ascentOptions(int iterations) const;
  Candidate candidate(const Prices &prices);
  Ascent ascendFrom(const Prices &start, int iterations);
  void prepare(double &bound);
  double bound();
  Ascent ascendFully();
  void raisePrices(const Prices &prices);
  void adoptSeen(const Prices &prices);
  bool provenInfeasible(int iterations, int64_t maxTableEntries);
  void searchParts(const Prices &prices, double bound, int rounds, double timeShare);
  double closeGap(const Ascent &root);
  Marginals lowerBounds(const Ascent &root);
  std::optional<double> solveRest(const Ascent &root, const Marginals &least);
  bool affordsBranches() const;
  double branchFrom(const Ascent &root);

  const Network &network_;
  const std::vector<MemorySpace> spaces_;
  SolveOptions options_;
  const int round_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now(); // of run()
  Search search_;
  Prices prices_;
  std::deque<std::vector<int>> seen_; // the last choices of the bounding loop
  int iterations_ = 0;
  double bound_ = -kForbidden; // that raiseFirstBound() found
  int firstSteps_ = 0;         // of it
  bool isFirstBoundFinal_ = false;
  // Seconds of the last passes of messages and steps of the bounding loop, each.
  double secondsPerSweep_ = 0, secondsPerStep_ = 0;
  std::optional<Ascent> root_;               // where the bounding loop ended
  std::unique_ptr<Messages> messages_;       // if elimination is inexact or slow
  Network tightNetwork_;                     // with messages, used if elimination is inexact
  std::unique_ptr<Elimination> elimination_; // of tight()
  NodeCosts costs_;                          // of tight()
  std::vector<int64_t> provenBudget_;
};

} // namespace cleave::solver
