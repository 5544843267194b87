// Places: where the ops of a step are in the model, by the parameters that they work with.
#pragma once

#include "compiler/planner/model/StepModel.h"

#include <map>
#include <string>

namespace cleave::planner {

// The argument that a value follows from by ops of a single operand, such as casts; null if there
// is none.
const Argument *argumentBehind(const StepModel &model, int value);

// That argument if it is a parameter; else null.
const Argument *parameterBehind(const StepModel &model, int value);

// Finds the places of ops. Keeps a reference to the model.
class Places {
public:
  explicit Places(const StepModel &model);

  // A product with the parameter W has the place `W`, and in the backward pass `W, input gradient`
  // or `W, weight gradient`. Another op of the forward pass has `copy of W` if its result follows
  // from W alone, `input of W` if such a product reads its result, else the parameter that it reads
  // itself. `, gradient` follows in the backward pass, and `, recomputed` if the op is a recomputed
  // one.
  // Equal for ops that are alike in different layers, but for the numbers of the layers. Empty if
  // nothing is known.
  std::string of(int op) const;

private:
  std::string ofProduct(const Op &op, const Op &forward) const;
  std::string ofOther(const Op &op, const Op &forward) const;

  const StepModel &model_;
  std::map<std::string, int> forward_; // by name, the first op of the forward pass
};

} // namespace cleave::planner
