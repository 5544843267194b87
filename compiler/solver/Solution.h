// Solution: the result for a Problem with its certificate, or the reasons for infeasibility.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::solver {

// The kinds of results.
enum class SolveStatus {
  Optimal,    // the gap is closed (up to rounding, or the accepted gap)
  Feasible,   // a valid solution; the gap bounds its distance from the best one
  Infeasible, // proven: no solution fits, see Infeasibility
  NotFound,   // no solution was found, and infeasibility was not proven
};

// The largest use of one memory space over time.
struct MemoryPeak {
  int64_t bytes = 0;
  int64_t time = 0;           // the first time point of the peak
  std::vector<int> liveNodes; // nodes that hold bytes there, largest first
};

// Why nothing fits, and what budget would suffice.
struct Infeasibility {
  // Per space the bytes needed by the choices found that exceed the budgets least; at most the
  // budget for spaces that do not bind. Empty if no permitted choices were found at any budget.
  std::vector<int64_t> smallestBudget;
  // Per space a proven lower bound on the bytes that any solution needs.
  std::vector<int64_t> provenBudget;
  int space = -1;                // the space that binds; -1: no memory space
  int64_t time = 0;              // when it binds
  std::vector<int> bindingNodes; // live at that time, largest first; or the node without a
                                 // permitted combination
  std::string message;           // one sentence
};

// The result of solve().
struct Solution {
  SolveStatus status = SolveStatus::NotFound; // says which fields are set
  std::vector<int> choices;                   // per node; empty unless Optimal or Feasible
  double cost = 0;                            // seconds, of the choices
  double lowerBound = 0;                      // seconds: no solution costs less
  double gap = 0;                             // (cost - lowerBound) / |cost|, 0 if both are equal
  std::vector<MemoryPeak> peaks;              // per space
  // Per space the seconds saved by one more byte of budget, to first order (the sum of the
  // multipliers).
  std::vector<double> shadowPrice;
  Infeasibility infeasibility; // if Infeasible or NotFound
  int iterations = 0;          // of the bounding loop
  double seconds = 0; // wall time; no other field depends on it unless maxSeconds is reached
  // Whether `choices` is a solution (of a problem without nodes it is empty).
  bool isFound() const { return !choices.empty() || status == SolveStatus::Optimal; }
};

} // namespace cleave::solver
