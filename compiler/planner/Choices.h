// Choices: the ways in which one op can be executed on a mesh, and in which one argument of the
// step can live. Enumeration only; what they cost is in Costs.h.
#pragma once

#include "compiler/planner/StepModel.h"

namespace cleave::planner {

// How an op is executed: the axes that split its factors, and the layouts that follow.
struct OpChoice {
  FactorAxes factors;
  std::vector<int> partial; // a linear op: axes along which operands and results are partial sums
  std::vector<Sharding> operands; // as the op wants them
  std::vector<Sharding> natural;  // as it gives its results
  std::vector<Sharding> results;  // what they are brought to at once
};

// Where an argument lives between steps, and the layout that it is brought to before use. They
// differ for a parameter that is gathered (ZeRO-3).
struct ArgumentChoice {
  Sharding storage;
  Sharding compute;
};

struct ChoiceLimits {
  size_t perOp = 96;       // choices that are kept per op
  size_t perArgument = 64; // and per argument
};

// All choices of an op, in a fixed order, the one that uses no axis first. Results that are partial
// are kept so, reduced, or reduced and scattered over a dim.
std::vector<OpChoice> enumerateOp(const Op &op, const StepModel &model, const Mesh &mesh);

// All layouts of an argument of the step that may be worth it, given the layouts that its readers
// want. `mayGather`: the storage may be split finer than the layout for use.
std::vector<ArgumentChoice> enumerateArgument(const std::vector<int64_t> &shape, const Mesh &mesh,
                                              const std::vector<Sharding> &wanted, bool mayGather);

// Bytes that one rank holds of a value in this layout.
int64_t localBytes(const Value &value, const Sharding &sharding, const Mesh &mesh);

// The op's FLOPs on one rank (of the largest block).
double localFlops(const Op &op, const FactorAxes &factors, const Mesh &mesh);

} // namespace cleave::planner
