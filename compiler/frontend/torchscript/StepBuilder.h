// StepBuilder: the step function around a program: arguments for inputs and tensors, results, and
// what becomes of buffers. One builder makes one step.
#pragma once

#include "compiler/frontend/aten/Aten.h"
#include "compiler/frontend/emit/Emitter.h"
#include "compiler/frontend/torchscript/Model.h"
#include "dialects/graph/SignatureEdit.h"

namespace cleave::torchscript {

class StepBuilder {
public:
  StepBuilder(mlir::MLIRContext &context, const std::string &path, const torch::Archive &archive,
              const Model &model);

  emit::Emitter &emitter() { return emitter_; }

  // An argument of the step that the user gives.
  Value addInput(const std::string &name, ElementType element, const graph::Shape &dims);
  // An input that the user fixed to these elements.
  Value addConstant(const std::string &name, const Tensor &elements);
  // The tensor model.tensors()[index]: an argument, or a constant of the step if it is small and
  // `written` does not name it. Another copy of the same tensor, a parameter of its own, has a number.
  Value addTensor(size_t index, const std::set<std::string> &written, int64_t copy = 0);

  // What the model returns: a tensor, or any nest of tuples, lists and dictionaries of them.
  void addOutputs(const Value &value);
  // What the program left in the model's buffers: results that replace them. Returns the buffers
  // that would have to be arguments for this (see addTensor).
  std::set<std::string> addStates(const Instance &model);

  mlir::OwningOpRef<mlir::ModuleOp> finish();

private:
  struct Argument {
    mlir::Value initial;           // what the tensor is at first
    std::optional<unsigned> index; // of the argument; none for a constant
    std::string name;
  };

  Value handleOf(mlir::Value value, const Stored &stored);
  bool isState(unsigned argument) const;
  void checkCount();
  void addOutput(const Value &value, const std::string &name);
  void visitBuffers(const Instance &object, std::set<const Instance *> &visited,
                    std::set<std::string> &missing);

  std::string path_;
  const torch::Archive &archive_;
  const Model &model_;
  mlir::OpBuilder b_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::func::FuncOp step_;
  graph::SignatureEdit signature_; // of the step, until its results are known
  emit::Evaluator evaluator_;
  emit::Emitter emitter_;
  std::map<std::string, Argument> buffers_; // by name
  std::set<std::string> replaced_;
  int64_t outputs_ = 0, visited_ = 0; // tensors, values that the model returns
};

} // namespace cleave::torchscript
