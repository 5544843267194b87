// Choices: the ways to execute one op on a mesh, and to lay out one argument of the step.
// Enumeration only; Costs.h prices them. What is enumerated here is the space that plans are chosen
// from and that the bound of a plan holds for.
#pragma once

#include "compiler/planner/model/StepModel.h"

namespace cleave::planner {

// One way to execute an op: the axes that split its factors, and the layouts that follow.
struct OpChoice {
  FactorAxes factors;
  std::vector<int> partial; // linear ops: axes along which operands and results are partial sums
  std::vector<Sharding> operands; // required layouts
  std::vector<Sharding> natural;  // layouts of the results as the kernel computes them
  std::vector<Sharding> results;  // layouts after reductions and scatters that directly follow
  bool isZigzag = false;          // faster in zigzag (Zigzag.h); known once the choice is priced
};

// One layout of an argument between steps, and the layout that it is brought to before use. They
// differ for a parameter that is gathered (ZeRO-3), in both passes or once for both.
struct ArgumentChoice {
  Sharding storage;
  Sharding compute;
  bool staysGathered = false; // from the forward to the backward pass

  bool isGathered() const { return storage != compute; }
};

// How many choices the cost network lists one by one (Rest.h).
struct ChoiceLimits {
  size_t perOp = 128; // at first, as perArgument; then as many as the solver asks for (Refine.h)
  size_t perArgument = 128;
  int rounds = 12; // of listing more, at most
  // Of the matrices of all edges: networks grow up to it, or by a quarter if they are larger.
  size_t maxEntries = size_t(1) << 25;
};

// Sets the layouts of operands, and those of results as the kernel computes them, that follow from
// the choice's factors and partial axes.
void setLayouts(const Op &op, OpChoice &choice);

// All choices of an op, in a fixed order; the first one uses no axis. Several axes split one factor
// in ascending order. Partial results are kept, reduced, or reduced and scattered over a dim.
std::vector<OpChoice> enumerateOp(const Op &op, const StepModel &model, const Mesh &mesh);

// The layouts of an argument that can pay off, given the layouts that its readers want. With
// `mayGather` also those whose storage is split more finely than the layout for use.
std::vector<ArgumentChoice> enumerateArgument(const std::vector<int64_t> &shape, const Mesh &mesh,
                                              const std::vector<Sharding> &wanted, bool mayGather);

// Bytes that one rank holds of a value in this layout.
int64_t localBytes(const Value &value, const Sharding &sharding, const Mesh &mesh);

// What a buffer of so many bytes occupies; the same for the block of a value.
int64_t storedBytes(int64_t bytes);
int64_t storedBytes(const Value &value, const Sharding &sharding, const Mesh &mesh);

// FLOPs of the op on one rank, for the largest block.
double localFlops(const Op &op, const FactorAxes &factors, const Mesh &mesh);

// The FLOPs of the rank that computes the most, relative to localFlops(): of a causal attention
// whose queries or keys are split in blocks, (2 c - 1) / c over c ranks; else 1.
double slowestShare(const Op &op, const FactorAxes &factors, const Mesh &mesh);

} // namespace cleave::planner
