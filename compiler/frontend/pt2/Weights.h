// Weights: the tensors beside the program in the archive, by the names that the program uses.
#pragma once

#include "compiler/frontend/pt2/Program.h"
#include "compiler/frontend/torch/StridedTensor.h"

namespace cleave::pt2 {

class Weights {
public:
  // Reads the lists of weights and constants; fails if there are none in a form that Cleave reads.
  explicit Weights(const torch::Archive &archive);

  // Where the tensor's elements are; fails (naming it) if it is missing, pickled, or not of this
  // element type and shape.
  torch::StridedTensor find(const std::string &name, const TensorMeta &meta) const;
  const torch::Archive &archive() const { return archive_; }

private:
  void add(const std::string &folder, const std::string &list, bool isRequired);

  const torch::Archive &archive_;
  std::map<std::string, Payload> payloads_;
};

} // namespace cleave::pt2
