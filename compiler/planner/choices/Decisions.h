// Decisions: the part of a plan that partitioning obeys, as plain data. Its other form are the
// attributes of the step (passes/shard/Annotate.h).
#pragma once

#include "compiler/planner/choices/Choices.h"

namespace cleave::planner {

// The strategy of one op; the plain form of its #mesh.strategy.
struct OpDecision {
  FactorAxes factors;            // per factor of the op's rule the mesh axes that split it
  std::vector<int> partial;      // axes along which operands and results are partial sums
  std::vector<Sharding> results; // the layouts of the results, after reductions
  // Per result the bucket whose call makes its reduction (Buckets.h), or -1. Empty: none.
  std::vector<int> buckets = {};
  bool isZigzag = false; // rows are exchanged with the mirrored rank (Zigzag.h)
  bool operator==(const OpDecision &) const = default;
};

// The layouts of one argument of the step.
struct ArgumentDecision {
  Sharding storage; // between steps
  Sharding compute; // for its readers in the forward and backward pass; the update reads `storage`
  // The copy in `compute` is made once and kept from the forward to the backward pass; otherwise
  // each makes its own.
  bool staysGathered = false;
  bool operator==(const ArgumentDecision &) const = default;
};

// A copy of a value in another layout, from which its readers in one part of the step begin.
struct CopyDecision {
  int value = 0;
  Part part = Part::Forward;
  Sharding layout;
  bool operator==(const CopyDecision &) const = default;
};

// The decisions on one step.
struct Decisions {
  Mesh mesh;
  std::vector<OpDecision> ops;             // in program order
  std::vector<ArgumentDecision> arguments; // in the order of the step's arguments
  std::vector<CopyDecision> copies;        // by value; at most one per value and part
};

// The layouts of an op's operands and results that follow from its decision.
OpChoice choiceOf(const Op &op, const OpDecision &decision);

} // namespace cleave::planner
