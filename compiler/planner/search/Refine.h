// Refine: solves the cost network of one mesh, whose nodes list only a part of their choices where
// these are many (Rest.h), and lists more where the best solution takes a rest.
//
// Every network solved on the way is a relaxation of the one with all choices, so that each of its
// lower bounds holds for all plans on the mesh. The last network is solved once more without rests
// if its solution takes one. Limits (ChoiceLimits) count choices and not seconds; where they, or
// SolveOptions::maxSeconds, end the listing, the bound is lower than it could be, but valid.
#pragma once

#include "compiler/planner/network/PlanProblem.h"
#include "compiler/solver/Solver.h"

#include <functional>

namespace cleave::planner {

// A network with the first lists, and its solve as far as lowerBound() did it.
struct BegunNetwork {
  PlanProblem problem;
  std::shared_ptr<solver::Solve> solve;
};

// The result for one mesh.
struct Refined {
  PlanProblem
      problem; // the last network; its rests are forbidden unless its bound reaches the cutoff
  // Takes no rest. Its lower bound, gap and status hold for all choices, listed or not.
  solver::Solution solution;
  // Whether there is no solution because all that consist of listed choices reach the cutoff.
  bool isBeaten = false;
  int rounds = 0;    // how often more choices were listed
  size_t others = 0; // choices of all nodes that are not listed: rests stand for them in the bound
};

// `onNetwork` is called with every network before it is solved; a failure ends the solve; may be
// empty. `first`: of these arguments but for the cutoff, if it has been bounded.
// A user error if `options` are invalid; infeasible if a node has no choices.
Result<Refined> solveRefining(Costs &costs, const Pins &pins, const Budget &budget,
                              const ChoiceLimits &limits, const solver::SolveOptions &options,
                              const std::function<Status(const solver::Problem &)> &onNetwork = {},
                              std::optional<BegunNetwork> first = {});

} // namespace cleave::planner
