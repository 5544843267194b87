// Refusals: what an import cannot take, collected over the whole model, so that one message names all of it.
#pragma once

#include "compiler/frontend/onnx/file/Failure.h"
#include "compiler/frontend/onnx/file/Model.h"

#include "llvm/ADT/MapVector.h"

#include <map>

namespace cleave::onnx {

class Refusals {
public:
  // Something of the whole model, or what `place` (`Add node 'x'`) says about itself. A defect is thrown at once.
  void add(const Failure &failure, const std::string &place = "");
  // The model reads what an unknown operator computes.
  void addUnknownOperator() { unknown_ = true, ++added_; }
  // So many were added, the same ones counted again.
  int64_t added() const { return added_; }

  // Throws one Failure with everything, if there is anything. Unknown operators are listed wherever the model
  // has them, read or not.
  void check(const Model &model) const;

private:
  llvm::MapVector<std::string, std::vector<std::string>, std::map<std::string, unsigned>>
      messages_; // with their places
  bool unknown_ = false;
  int64_t added_ = 0;
};

} // namespace cleave::onnx
