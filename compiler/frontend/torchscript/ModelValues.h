// ModelValues: the tensors of a TorchScript model as arguments and constants of one step, and the
// results that replace written buffers.
#pragma once

#include "compiler/frontend/emit/Emitter.h"
#include "compiler/frontend/step/StepBuilder.h"
#include "compiler/frontend/torchscript/Model.h"

namespace cleave::torchscript {

class ModelValues {
public:
  // Buffers named in `written` become states, whatever their size. The references must outlive the
  // object; `emitter` builds ops in `step`.
  ModelValues(const torch::Archive &archive, const Model &model, std::set<std::string> written,
              frontend::StepBuilder &step, emit::Emitter &emitter)
      : archive_(archive), model_(model), written_(std::move(written)), step_(step),
        emitter_(emitter) {}

  // The tensor model.tensors()[index]: a constant of the step if it is small and neither a
  // parameter nor written, else an argument. Copies after the first are parameters of their own,
  // whose names end in their number.
  IValue addTensor(size_t index, int64_t copy = 0);
  // The archive's constant of this name (`c0`). Each tensor is added once, except those that
  // freezing merged.
  IValue constant(const std::string &name);
  // Adds a result for each state that the program changed; the other states become constant
  // arguments. Returns the changed buffers that are no states: the step must be built again with
  // these in `written`.
  std::set<std::string> addStateResults(const Instance &model);

private:
  struct Buffer {
    mlir::Value initial;
    std::optional<mlir::BlockArgument> state; // none: a constant
    bool isReplaced = false;
  };

  IValue handleOf(mlir::Value value, const Stored &stored);
  mlir::Value addConstant(const Stored &stored);
  mlir::BlockArgument addArgument(const Stored &stored, ElementType element);
  void visitBuffers(const Instance &object, std::set<const Instance *> &visited,
                    std::set<std::string> &missing);

  const torch::Archive &archive_;
  const Model &model_;
  std::set<std::string> written_; // names of buffers
  frontend::StepBuilder &step_;
  emit::Emitter &emitter_;
  std::map<std::string, Buffer> buffers_; // by name
  std::map<size_t, IValue> constants_;    // by tensor
  std::map<size_t, int64_t> copies_;      // of tensors that freezing merged, by tensor
};

} // namespace cleave::torchscript
