// Model: what the archive's data files hold: the model as a tree of objects, and its tensors under
// the names that they have in PyTorch. Plain data about tensors; values are made by StepBuilder.
#pragma once

#include "compiler/frontend/step/Import.h"
#include "compiler/frontend/torch/Pickle.h"
#include "compiler/frontend/torchscript/Objects.h"

#include <functional>
#include <set>
#include <tuple>

namespace cleave::torchscript {

// A tensor that the model keeps.
struct Stored {
  enum class Kind { Parameter, Buffer, Constant } kind = Kind::Constant;
  std::string name; // in PyTorch: `layer1.0.conv1.weight`
  torch::StridedTensor tensor;
};

class Model {
public:
  // Reads data.pkl and constants.pkl, or what old archives have instead (ModelJson.h), and finds parameters and buffers. Fails on damage and on files
  // that hold no program.
  Model(const torch::Archive &archive, Program &program, const frontend::ImportOptions &options);

  // The class of the model itself.
  const std::string &className() const { return data_[data_.root].text; }
  const std::vector<Stored> &tensors() const { return tensors_; }
  const std::vector<frontend::Remark> &remarks() const { return remarks_; }

  // The model as objects, tensors made by `make` (called with an index in tensors(), once each).
  // Every call gives new objects.
  InstanceRef instantiate(const std::function<Value(size_t)> &make) const;
  // Whether the tensor is a parameter of a frozen model with all elements equal. Freezing makes one of equal tensors, so
  // that fresh norms would share theirs: everything that reads it has its own.
  bool isMergedByFreezing(size_t index) const { return equalEverywhere_.contains(index); }
  // The parameter of a frozen model that the tensor holds transposed: freezing computes w.t() once. None: it is its own.
  std::optional<size_t> transposedOf(size_t index) const {
    auto found = transposedOf_.find(index);
    return found == transposedOf_.end() ? std::nullopt : std::optional(found->second);
  }
  // The index of the constant `c0` where it is a tensor, and what else it may be.
  std::optional<size_t> constantTensor(const std::string &name) const;
  Value constantValue(const std::string &name) const;
  // The dims and element types with which the model was traced; empty if the file does not tell.
  std::vector<torch::StridedTensor> tracedInputs() const;

private:
  class Builder;
  using Kind = Stored::Kind;

  // What makes two tensors the same: entry, type, offset, dims, strides.
  using Window =
      std::tuple<std::string, std::string, int64_t, std::vector<int64_t>, std::vector<int64_t>>;
  static Window windowOf(const torch::StridedTensor &tensor);

  void readPickles();
  void findTensors(const frontend::ImportOptions &options);
  void visitObject(torch::NodeId id, const std::string &path);
  void addNamed(Kind kind, const std::string &name, const torch::StridedTensor &tensor);
  size_t add(Kind kind, const std::string &name, const torch::StridedTensor &tensor);
  size_t addConstant(const std::string &name, const torch::StridedTensor &tensor);
  void tie(const frontend::ImportOptions &options);
  void findFrozen();
  void findTransposed(const std::vector<size_t> &frozen);
  void warnOfOverlaps();
  torch::NodeId constantNode(const std::string &name) const;

  const torch::Archive &archive_;
  Program &program_;
  torch::Pickle data_, constants_;
  std::vector<Stored> tensors_;
  std::map<std::string, size_t> byName_;      // parameters and buffers by every name
  std::map<Window, size_t> byWindow_;         // the first of tensors_ that is this
  std::map<Window, size_t> shared_;           // the same of those that others may share
  std::map<size_t, size_t> byDataTensor_;     // tensor of data_ -> tensors_
  std::map<size_t, size_t> byConstantTensor_; // tensor of constants_ -> tensors_
  std::set<size_t> equalEverywhere_;          // frozen parameters
  std::map<size_t, size_t> transposedOf_;     // frozen parameters -> earlier ones
  std::set<torch::NodeId> visited_;
  std::set<std::string> untied_;
  std::vector<frontend::Remark> remarks_;
};

} // namespace cleave::torchscript
