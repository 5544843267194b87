// PlanProblem: the step on one mesh as a solver::Problem.
//
// Nodes: one per op, whose choices are its strategies; one per argument that several ops share,
// whose choices are its layouts. An optimizer state that only its update reads has no node: it
// lives in the layout that its update wants (ZeRO-1 is a split update and nothing else). Edges:
// seconds of layout changes between producer and reader, and from a parameter's new value to the
// layout of the parameter. Where choices are many, a node lists only some of them and has a rest
// for the others (Rest.h). Memory: the stores of the step (StepModel::stores), each at the size of
// the local block that it holds, and the copies and the packing of layout changes of results and of
// gathered arguments.
//
// Ops of one part of the step that read a value in the same other layout share the layout change,
// since the partitioner emits it once: where several readers can, a node between producer and
// readers chooses the layout that is read. Changes to two different layouts are counted separately.
// Where there is a budget, such nodes stand behind all values that matter, and count the memory of
// copies (CopyMemory.h).
#pragma once

#include "compiler/planner/choices/Budget.h"
#include "compiler/planner/network/PricedOps.h"
#include "compiler/solver/Problem.h"

namespace cleave::planner {

// A node that chooses the layout in which the readers of a value in one part of the step find it.
struct CopyNode {
  int value = 0;
  Part part = Part::Forward;
  int node = 0;                       // of the problem
  std::vector<Sharding> layouts = {}; // by choice
};

// The meaning of a usage of an argument's node.
enum class ArgumentNeed {
  Copy,     // the layout for use, gathered in one part of the step
  Change,   // memory for gathering it, in one part
  KeptCopy, // the layout for use, kept from the forward to the backward part
  Store,    // a store of the argument
};

// The cost network of a step, and what its nodes and choices stand for.
struct PlanProblem {
  solver::Problem network;                                  // node i < number of ops is op i
  std::vector<std::shared_ptr<const PricedOp>> priced;      // per op
  std::vector<std::vector<Need>> needs;                     // per op, one per usage of its node
  size_t pricedCount = 0;                                   // distinct ones
  std::vector<int> argumentNode;                            // per argument its node, or -1
  std::vector<std::vector<ArgumentChoice>> argumentChoices; // per argument; empty without a node
  std::vector<std::vector<ArgumentNeed>> argumentNeeds; // per argument, one per usage of its node
  std::vector<PinEffect> argumentPinEffects;            // per argument
  std::map<int, Rest> rests;                            // of the nodes that have one
  std::vector<CopyNode> copies;                         // by value

  // The choices of the op's node.
  const std::vector<OpChoice> &choicesOf(int op) const { return priced[op]->choices; }
};

class NetworkBuilder;

// Builds the networks of the step of `costs` on its mesh, with lists that grow. Keeps references to
// `costs` and `pins`.
class ProblemBuilder {
public:
  ProblemBuilder(Costs &costs, const Pins &pins, const Budget &budget);
  ~ProblemBuilder();

  // Infeasible if the pins leave an op or argument without choices; the message names it.
  Result<PlanProblem> build(const Listing &listing);

private:
  const Costs &costs_;
  const Pins &pins_;
  std::unique_ptr<NetworkBuilder> builder_;
};

// A single network of a ProblemBuilder.
Result<PlanProblem> buildProblem(Costs &costs, const Pins &pins, const Budget &budget,
                                 const Listing &listing = {});

} // namespace cleave::planner
