// Reference: the data of a program, and its expected results as the interpreter's ensemble of every
// step.
#pragma once

#include "test/fuzz/programs/Ensemble.h"
#include "test/fuzz/programs/ProgramCase.h"

#include <map>

namespace cleave::fuzz {

// Random inputs and labels of every step and slot, determined by a seed.
class ProgramData {
public:
  // `classes[label]` is the number of classes of a label.
  ProgramData(mlir::func::FuncOp step, const std::map<std::string, int64_t> &classes,
              uint64_t seed);
  // The value of argument `name` in this slot of this step.
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

// The first values of all arguments except inputs and labels.
std::vector<Ensemble> firstValues(mlir::func::FuncOp step);

// The results of a step by name: losses, metrics, outputs, and the parameters and states after the
// step.
using StepResults = std::map<std::string, Ensemble>;
Result<std::vector<StepResults>> interpretSteps(mlir::func::FuncOp step, const ProgramData &data,
                                                const ProgramSpec &spec);

// Checks that the update of plain gradient descent (sgd:lr=1) is the derivative of the loss along a
// random direction. Returns an error; empty if it is, or if the loss has a kink there, which is
// counted.
std::string checkGradients(mlir::func::FuncOp step, const ProgramData &data,
                           const ProgramSpec &spec, int64_t *count);

} // namespace cleave::fuzz
