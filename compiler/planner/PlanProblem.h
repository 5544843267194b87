// PlanProblem: the step on one mesh as a solver::Problem.
//
// Nodes: one per op, with its ways of being split; one per argument that several ops share, with
// its layouts. An optimizer state that only its update touches has no node: it lives in the layout
// that its update wants (so ZeRO-1 is nothing but a split update). Edges: seconds of changing
// layouts between maker and reader, and of bringing a parameter's new value back to where it lives.
// Memory: every value from the op that makes it to its last reader, at the size of its local block;
// arguments at all times.
//
// Ops of one part of the step that need a value in the same other layout share the change, as the partitioner makes it
// once: where that can be, a node between maker and readers chooses the layout that is read. Ops that need two
// different other layouts are counted one by one. Copies take no memory here.
#pragma once

#include "compiler/planner/OpKinds.h"
#include "compiler/solver/Problem.h"

namespace cleave::planner {

struct PlanProblem {
  solver::Problem problem;
  std::vector<std::shared_ptr<const OpKind>> kinds;         // per op; its node has the same number
  size_t kindCount = 0;                                     // different ones
  std::vector<int> argumentNode;                            // per argument, or -1
  std::vector<std::vector<ArgumentChoice>> argumentChoices; // per argument; empty without a node

  const std::vector<OpChoice> &choicesOf(int op) const { return kinds[op]->choices; }
};

// `memoryBytes`: what one rank may use.
PlanProblem buildProblem(Costs &costs, const Pins &pins, int64_t memoryBytes);

} // namespace cleave::planner
