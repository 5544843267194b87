// Weights: the tensors in the archive, by their names in the program.
#pragma once

#include "compiler/frontend/pt2/Program.h"
#include "compiler/frontend/torch/StridedTensor.h"

namespace cleave::pt2 {

class Weights {
public:
  // Reads the lists of weights and constants; fails if the list of weights is missing.
  explicit Weights(const torch::Archive &archive);

  // The tensor `name`; fails if it is missing, pickled, or does not have the element type and shape
  // of `meta`. A tensor of PyTorch's meta device is absent.
  torch::StridedTensor find(const std::string &name, const TensorMeta &meta) const;
  // The other names under which the archive has the same elements.
  std::vector<std::string> otherNamesOf(const std::string &name) const;
  const torch::Archive &archive() const { return archive_; }

private:
  void add(const std::string &folder, const std::string &list, bool isRequired);

  const torch::Archive &archive_;
  std::map<std::string, Payload> payloads_;
};

} // namespace cleave::pt2
