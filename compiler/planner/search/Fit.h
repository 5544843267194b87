// Fit: the best plan of one mesh whose program fits into the memory of a rank.
//
// The program is the account: `MemoryOf` lowers a plan and reads its size, and a plan fits if its
// program does. The first network has no budget and does not count what two decisions determine
// together; if its plan fits, memory has no influence on the plan. Otherwise networks that count
// copies too (CopyMemory.h) are solved within the budget, corrected by the difference between
// program and network, until a program fits. All of this is deterministic.
//
// The bound is that of networks with at least the budget.
#pragma once

#include "compiler/planner/choices/Decisions.h"
#include "compiler/planner/search/Refine.h"

namespace cleave::planner {

// What the program of one rank takes, in bytes.
struct ProgramMemory {
  int64_t peak = 0;  // most bytes of buffers that are alive at one time
  int64_t arena = 0; // the memory that holds all of them, at least the peak
  int64_t host = 0;  // memory of the host that holds others
  int64_t file = 0;  // bytes of a file that holds others

  // The bytes to compare with a budget. The arena counts only where its gaps decide: one that is
  // not the smallest is good enough for a program that fits or that exceeds the budget anyway.
  int64_t forBudget(int64_t budget) const {
    return peak <= budget && arena > budget ? arena : peak;
  }
};

// The memory of the program that follows from decisions.
using MemoryOf = std::function<Result<ProgramMemory>(const Decisions &)>;

// What is done where the program of the fastest plan is too large.
enum class WhenTooLarge {
  Stop,    // the answer is that none fits
  Search,  // a plan within the budget is searched
  Explain, // the same; if there is none, the smallest program is searched, for a message
};

// Options of solveToFit.
struct FitOptions {
  Budget budget = Budget::unlimited(); // of one rank
  ChoiceLimits choices;                // see Refine.h
  solver::SolveOptions solve;          // of each network
  MemoryOf memoryOf;                   // empty: the network's peak counts
  // See solveRefining.
  std::function<Status(const solver::Problem &)> onNetwork;
  WhenTooLarge whenTooLarge = WhenTooLarge::Search;
};

// The result for one mesh.
struct Fitted {
  // The plan that fits. If there is none, solver::Infeasibility has the size of the smallest
  // program found.
  Refined refined;
  ProgramMemory memory; // of its program
  // None was found, and smaller programs than the smallest one were not searched, which Explain
  // does.
  bool isCut = false;

  bool isFound() const { return refined.solution.isFound(); }
};

// Fails as solveRefining and `memoryOf` do. `unlimited`: the result of solveRefining without a
// limit, if it is known.
Result<Fitted> solveToFit(Costs &costs, const Pins &pins, const FitOptions &options,
                          std::optional<Refined> unlimited = {});

} // namespace cleave::planner
