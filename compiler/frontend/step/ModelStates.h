// ModelStates: finds the tensors of a model that `forward` writes, and makes them states of the
// step. Only the built step shows which these are. An importer therefore builds the step with the
// states that it knows; if the step writes other tensors, it builds an empty step anew with these
// as states, too.
#pragma once

#include "compiler/frontend/step/StepBuilder.h"

#include <functional>
#include <map>
#include <set>

namespace cleave::frontend {

// The names of tensors that are states of the step.
using StateNames = std::set<std::string>;

// Calls `build` with the states that earlier calls found, none at first, until it finds no more.
void buildUntilStatesAreKnown(const std::function<StateNames(const StateNames &)> &build);

// The tensors of one build that the program may write.
class ModelStates {
public:
  // `states` are the tensors that earlier builds wrote. The reference must outlive the object.
  ModelStates(StepBuilder &step, StateNames states) : step_(step), states_(std::move(states)) {}

  // Whether the tensor becomes an argument of the role State.
  bool isState(const std::string &name) const { return states_.contains(name); }
  // Adds a tensor with its value before the step: a constant or an argument. Fails on a second one
  // of the same name.
  void add(const std::string &name, mlir::Value first);
  bool has(const std::string &name) const { return byName_.contains(name); }
  // Whether no op of the step reads the tensor's value before the step.
  bool isUnread(const std::string &name) const {
    return has(name) && tensors_[byName_.at(name)].first.use_empty();
  }
  // Sets the tensor's value after the step. Fails where it has another shape or type than before.
  void setLast(const std::string &name, mlir::Value last);
  // Keeps the tensors from which batch norms compute these statistics as arguments, also where the
  // step only reads them: trained weights replace their values.
  void keepStatistics(llvm::ArrayRef<mlir::Value> statistics);
  // Adds a result for each state that the step writes. Returns the tensors that it writes and that
  // are no states, and the statistics that are constants: the build is to be repeated with these as
  // states.
  StateNames addResults();

private:
  struct Tensor {
    std::string name;
    mlir::Value first, last;
  };

  StepBuilder &step_;
  StateNames states_, missing_;
  std::vector<Tensor> tensors_;          // in the order of add()
  std::map<std::string, size_t> byName_; // places in tensors_
};

} // namespace cleave::frontend
