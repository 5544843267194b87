// ForwardInputs: the arguments of a model's method `forward`: from the user's options (--input,
// --value), the types recorded by tracing, and the defaults in the program.
#pragma once

#include "compiler/frontend/step/StepBuilder.h"
#include "compiler/frontend/torchscript/Model.h"

namespace cleave::torchscript {

class ForwardInputs {
public:
  // Fails where the model's class has no `forward`. The references must outlive the object.
  ForwardInputs(Program &program, const Model &model, const frontend::ImportOptions &options);

  // Fails where --input or --value names no argument of `forward`.
  void checkNames() const;
  // Adds the inputs to a step and returns the arguments of `forward` (without self). Fails where
  // the type or value of one is unknown, and where --set names a symbol that no --input has.
  IValueList add(frontend::StepBuilder &step);

private:
  using Values = std::vector<double>;

  const frontend::InputType *typeOf(const std::string &name) const;
  IValue addInput(frontend::StepBuilder &step, const Parameter &parameter,
                  const torch::StridedTensor *example);
  IValue addTensor(frontend::StepBuilder &step, const std::string &name, ElementType element,
                   const graph::Shape &dims);
  IValue addTyped(frontend::StepBuilder &step, const frontend::InputType &type);
  IValue addKnown(frontend::StepBuilder &step, const Parameter &parameter,
                  const torch::StridedTensor *example, const Values &values);
  graph::Shape sizesOf(const frontend::InputType &type, bool keepSymbols);
  void checkSymbols() const;

  const Model &model_;
  const frontend::ImportOptions &options_;
  const Function &forward_;
  std::vector<std::string> symbols_; // of inputs
};

} // namespace cleave::torchscript
