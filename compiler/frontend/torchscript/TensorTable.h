// TensorTable: the tensors of a TorchScript archive, each once, under the names that they have in
// PyTorch.
#pragma once

#include "compiler/frontend/step/Import.h"
#include "compiler/frontend/torch/StridedTensor.h"

#include <set>
#include <tuple>

namespace cleave::torchscript {

// A tensor that the model keeps.
struct Stored {
  enum class Kind { Parameter, Buffer, Constant } kind = Kind::Constant;
  std::string name; // in PyTorch: `layer1.0.conv1.weight`
  torch::StridedTensor tensor;
};

class TensorTable {
public:
  // Parameters that --untie names are not merged with others.
  explicit TensorTable(const frontend::ImportOptions &options)
      : untied_(options.untie.begin(), options.untie.end()) {}

  // Add a tensor and return its index; fail if its elements are quantized. A parameter or buffer
  // whose elements are those of an earlier one is that one under another name.
  void addNamed(Stored::Kind kind, const std::string &name, const torch::StridedTensor &tensor);
  size_t addConstant(const std::string &name, const torch::StridedTensor &tensor);
  // Makes the tensors of each --tie one. Fails where --tie or --untie names none, or the two differ
  // in type or shape.
  void tie(const frontend::ImportOptions &options);
  // Turns a constant into a trained parameter.
  void makeParameter(size_t index);

  const std::vector<Stored> &tensors() const { return tensors_; }
  // The index of a parameter or buffer by any of its names; of the first tensor with the same
  // elements in the same order. None: there is none.
  std::optional<size_t> named(const std::string &name) const;
  std::optional<size_t> sameAs(const torch::StridedTensor &tensor) const;
  // Further names of parameters, and their first names.
  std::vector<std::pair<std::string, std::string>> otherNames() const;
  // Tied parameters, for the user.
  const std::vector<frontend::Remark> &remarks() const { return remarks_; }

private:
  // Identifies the elements of a tensor: entry, element type, offset, dims, strides.
  using Window =
      std::tuple<std::string, std::string, int64_t, std::vector<int64_t>, std::vector<int64_t>>;
  static Window windowOf(const torch::StridedTensor &tensor);

  size_t add(Stored::Kind kind, const std::string &name, const torch::StridedTensor &tensor);

  std::set<std::string> untied_;
  std::vector<Stored> tensors_;
  std::map<std::string, size_t> byName_; // parameters and buffers by every name
  std::map<Window, size_t> byWindow_;    // the first of tensors_ with these elements
  std::map<Window, size_t> shared_;      // the same, of tensors that may be merged
  std::vector<frontend::Remark> remarks_;
};

// Warnings about parameters that share memory without being the same: PyTorch trains them as one,
// Cleave separately.
std::vector<frontend::Remark> overlaps(const std::vector<Stored> &tensors);

} // namespace cleave::torchscript
