// Reference: what a program has to compute: its data, and the interpreter's ensemble of every step.
#pragma once

#include "test/fuzz/programs/Ensemble.h"
#include "test/fuzz/programs/ProgramCase.h"

#include <map>

namespace cleave::fuzz {

// Inputs and labels of every step and slot, drawn from a seed.
class ProgramData {
public:
  // `classes[label]` is the number of classes that a label chooses from.
  ProgramData(mlir::func::FuncOp step, const std::map<std::string, int64_t> &classes,
              uint64_t seed);
  // What argument `name` is in this slot of this step.
  Tensor tensor(const std::string &name, int64_t step, int64_t slot) const;
  std::vector<Tensor> inputs(int64_t step, int64_t slot) const;

private:
  struct Input {
    std::string name;
    mlir::Type type;
    double low, high;
  };
  std::vector<Input> inputs_; // in the order of the function's arguments
  uint64_t seed_;
};

// The first values of the arguments but for inputs and labels.
std::vector<Ensemble> firstValues(mlir::func::FuncOp step);

// The results of every step, by name: losses, metrics, outputs, and what parameters and states are afterwards.
using StepResults = std::map<std::string, Ensemble>;
Result<std::vector<StepResults>> interpretSteps(mlir::func::FuncOp step, const ProgramData &data,
                                                const ProgramSpec &spec);

// Whether the update of plain gradient descent (sgd:lr=1) is the loss's derivative, along a random direction. Empty if so,
// or if the loss has a corner there, which is counted.
std::string checkGradients(mlir::func::FuncOp step, const ProgramData &data,
                           const ProgramSpec &spec, int64_t *count);

} // namespace cleave::fuzz
