// ObjectBuilder: turns the nodes of a pickle into the values that a program computes with.
#pragma once

#include "compiler/frontend/torch/Pickle.h"
#include "compiler/frontend/torchscript/Objects.h"
#include "compiler/frontend/torchscript/TensorTable.h"

#include <functional>

namespace cleave::torchscript {

// Makes the value of the tensor with this index in the table; called once per builder and tensor.
using MakeTensor = std::function<IValue(size_t index)>;

class ObjectBuilder {
public:
  // `tensors` maps the pickle's tensors to those of the table. The references must outlive the
  // object.
  ObjectBuilder(Program &program, const TensorTable &table, const torch::Pickle &pickle,
                const std::map<size_t, size_t> &tensors, const MakeTensor &make)
      : program_(program), table_(table), pickle_(pickle), tensors_(tensors), make_(make) {}

  // The value of a node; `path` is its name in messages and, for modules, in the model. A node has
  // one value, however often it is asked for. Fails on storages without a tensor and packed
  // weights.
  IValue valueOf(torch::NodeId id, const std::string &path);

private:
  IValue makeValue(const torch::Node &node, const std::string &path);
  IValue makeObject(const torch::Node &node, const std::string &path);
  IValue tensor(size_t index);

  Program &program_;
  const TensorTable &table_;
  const torch::Pickle &pickle_;
  const std::map<size_t, size_t> &tensors_;
  const MakeTensor &make_;
  std::map<torch::NodeId, IValue> values_;
  std::map<size_t, IValue> made_; // by index in the table
};

// `layer1.conv`: attribute `conv` of the module at `layer1` (empty: the model). Fails on long
// names.
std::string attributePath(const std::string &path, const std::string &name);

// Fails if the node, called `name`, packs quantized weights.
void failOnPacked(const torch::Node &node, const std::string &name);

} // namespace cleave::torchscript
