// Solution: the answer to a Problem, with its certificate, or the reasons why there is none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::solver {

enum class SolveStatus {
  Optimal,    // the gap is closed (up to rounding, or the accepted gap)
  Feasible,   // a valid solution; the gap says how far from the best it is at most
  Infeasible, // proven: no solution fits, see Infeasibility
  NotFound,   // none was found, but that there is none was not proven either
};

// The largest use of one memory space over time.
struct MemoryPeak {
  int64_t bytes = 0;
  int64_t time = 0;           // the first point with that many bytes
  std::vector<int> liveNodes; // that hold bytes there, largest first
};

// Why nothing fits, and what would.
struct Infeasibility {
  // Per space the bytes that the least demanding solution found needs; at most the budget where the
  // space is not the problem. Empty if even unlimited memory would not help.
  std::vector<int64_t> smallestBudget;
  // Per space a proven lower bound on what any solution needs.
  std::vector<int64_t> provenBudget;
  int space = -1;                // the space that binds, -1 if it is not memory
  int64_t time = 0;              // where it binds
  std::vector<int> bindingNodes; // live there and largest in the least demanding solution, or the
                                 // nodes without a permitted combination
  std::string message;           // one sentence
};

struct Solution {
  SolveStatus status = SolveStatus::NotFound;
  std::vector<int> choices;      // per node; empty unless Optimal or Feasible
  double cost = 0;               // seconds, of the choices
  double lowerBound = 0;         // seconds: no solution costs less
  double gap = 0;                // (cost - lowerBound) / |cost|, 0 if both are equal
  std::vector<MemoryPeak> peaks; // per space
  // Per space the seconds that one more byte of budget saves, to first order (the multipliers'
  // sum).
  std::vector<double> shadowPrice;
  Infeasibility infeasibility; // if Infeasible or NotFound
  int iterations = 0;          // of the bounding loop, for the curious
  double seconds = 0;          // wall time; does not influence the rest unless it hit the limit
  bool isFound() const { return !choices.empty() || status == SolveStatus::Optimal; }
};

} // namespace cleave::solver
