// Model: the model of a TorchScript archive as a tree of objects, and its tensors. Plain data about
// tensors; ModelValues.h makes their values.
#pragma once

#include "compiler/frontend/step/Import.h"
#include "compiler/frontend/torch/Pickle.h"
#include "compiler/frontend/torchscript/FrozenModel.h"
#include "compiler/frontend/torchscript/ObjectBuilder.h"

namespace cleave::torchscript {

class Model {
public:
  // Reads data.pkl and constants.pkl, or their counterparts in old archives (ModelJson.h), and
  // finds parameters and buffers. Fails on damage and on archives without a program. `archive` and
  // `program` must outlive the object.
  Model(const torch::Archive &archive, Program &program, const frontend::ImportOptions &options);

  // The class of the model itself.
  const std::string &className() const { return data_[data_.root].text; }
  const std::vector<Stored> &tensors() const { return table_.tensors(); }
  // Further names of parameters (TensorTable.h).
  std::vector<std::pair<std::string, std::string>> otherNames() const {
    return table_.otherNames();
  }
  // The tensor of an attribute, `layer1.0.queue`; of an item of a list or dictionary, `caches.2`.
  std::optional<size_t> tensorNamed(const std::string &path) const { return table_.named(path); }
  const std::vector<frontend::Remark> &remarks() const { return remarks_; }

  // The model as objects; tensors are made by `make`. Every call returns new objects.
  InstanceRef instantiate(const MakeTensor &make) const;
  // Whether freezing merged this tensor with equal ones (FrozenParameters::equalEverywhere).
  bool isMergedByFreezing(size_t index) const { return frozen_.equalEverywhere.contains(index); }
  // The parameter that the tensor holds transposed (FrozenParameters::transposedOf).
  std::optional<size_t> transposedOf(size_t index) const {
    auto found = frozen_.transposedOf.find(index);
    return found == frozen_.transposedOf.end() ? std::nullopt : std::optional(found->second);
  }
  // The index of the constant `c0` if it is a tensor; its value if it is anything else. Fail if the
  // archive has no such constant.
  std::optional<size_t> constantTensor(const std::string &name) const;
  IValue constantValue(const std::string &name) const;
  // The inputs with which the model was traced: element types and dims. Empty if the file has none.
  std::vector<torch::StridedTensor> tracedInputs() const;

private:
  using Kind = Stored::Kind;

  void readPickles();
  void findTensors(const frontend::ImportOptions &options);
  void visitObject(torch::NodeId id, const std::string &path);
  void nameOthers();
  void findFrozen();
  torch::NodeId constantNode(const std::string &name) const;

  const torch::Archive &archive_;
  Program &program_;
  torch::Pickle data_, constants_;
  TensorTable table_;
  std::map<size_t, size_t> byDataTensor_;     // tensor of data_ -> index in table_
  std::map<size_t, size_t> byConstantTensor_; // tensor of constants_ -> index in table_
  FrozenParameters frozen_;
  std::set<torch::NodeId> visited_;
  std::vector<frontend::Remark> remarks_;
};

} // namespace cleave::torchscript
