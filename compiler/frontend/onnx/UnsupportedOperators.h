// UnsupportedOperators: the operators and inputs of a model that Cleave cannot import, collected
// over the whole model, so that one message lists all of them.
#pragma once

#include "compiler/frontend/onnx/file/Failure.h"
#include "compiler/frontend/onnx/file/Model.h"

#include "llvm/ADT/MapVector.h"

#include <map>

namespace cleave::onnx {

class UnsupportedOperators {
public:
  // Adds the failure of an operator at `place` (`Add node 'x'`), or of the whole model where that
  // is empty. Throws the failure at once if it is a defect of Cleave.
  void add(const Failure &failure, const std::string &place = "");
  // Records that the model needs an operator without a handler; check() finds its name.
  void addUnknown() { unknown_ = true, ++added_; }
  // The number of calls that added something, repetitions included.
  int64_t added() const { return added_; }

  // Throws one Failure that lists everything, if there is anything. Operators without a handler are
  // listed with all their nodes in the model. `hint` ends a message about
  // anything else that does not ask for a value.
  void check(const Model &model, const std::string &hint = "") const;

private:
  // Messages with their places, in the order of their first occurrence.
  llvm::MapVector<std::string, std::vector<std::string>, std::map<std::string, unsigned>> messages_;
  bool unknown_ = false;
  int64_t added_ = 0;
};

} // namespace cleave::onnx
