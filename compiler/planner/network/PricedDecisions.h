// PricedDecisions: decisions with the seconds and the memory that they need in the planner's model.
#pragma once

#include "compiler/planner/choices/Decisions.h"
#include "compiler/planner/network/Costs.h"
#include "compiler/planner/network/PlanProblem.h"

#include <string>
#include <vector>

namespace cleave::planner {

// Memory that an op or argument takes.
struct Holding {
  std::string name;  // of the op or argument
  int op = -1;       // the op that it is of; -1: none
  int result = -1;   // the op's result, by position, that it is once its kernel has run; -1: none
  int argument = -1; // the argument that it is, wherever it is read; -1: none
  Span span;         // on the step's clock
  int64_t bytes = 0; // of one rank
};

// Decisions on one step, and what they take.
struct PricedDecisions : Decisions {
  double seconds = 0;            // per step (secondsOf)
  std::vector<Holding> holdings; // of all ops and arguments
};

// The seconds of a step under these decisions: of all kernels, of the layout changes that
// partitioning emits, and of the collectives that buckets join.
double secondsOf(Costs &costs, const Decisions &decisions);

// The seconds of all copies between spaces, which secondsOf() includes.
double copySecondsOf(const Costs &costs, const Decisions &decisions);

// All memory that is taken by these choices, one per node of the network.
std::vector<Holding> holdingsOf(const PlanProblem &problem, const std::vector<int> &choices);

} // namespace cleave::planner
