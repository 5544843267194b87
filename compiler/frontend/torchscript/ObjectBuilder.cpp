// See ObjectBuilder.h.
#include "compiler/frontend/torchscript/ObjectBuilder.h"

#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/torch/Quantized.h"

namespace cleave::torchscript {

using emit::fail;
using torch::Node;
using torch::NodeId;
using NodeKind = Node::Kind;

std::string attributePath(const std::string &path, const std::string &name) {
  constexpr size_t most = 1 << 10; // a pickle repeats long names for a few bytes
  if (path.size() + name.size() > most)
    fail("the name of an attribute has more than ", most, " characters");
  return path.empty() ? name : path + "." + name;
}

void failOnPacked(const Node &node, const std::string &name) {
  if (node.kind == NodeKind::Packed)
    torch::failOnQuantized(concat("'", name, "' holds packed weights (", node.text, ")"));
}

IValue ObjectBuilder::valueOf(NodeId id, const std::string &path) {
  auto known = values_.find(id);
  if (known != values_.end())
    return known->second;
  IValue value = makeValue(pickle_[id], path);
  values_[id] = value;
  return value;
}

IValue ObjectBuilder::makeValue(const Node &node, const std::string &path) {
  switch (node.kind) {
  case NodeKind::None:
    return {};
  case NodeKind::Bool:
    return IValue(node.integer != 0);
  case NodeKind::Int:
    return IValue(node.integer);
  case NodeKind::Float:
    return IValue(node.number);
  case NodeKind::String:
  case NodeKind::Device:
  case NodeKind::Global:
    return IValue(node.text);
  case NodeKind::Tensor:
    if (!tensors_.contains(node.integer))
      fail("'", path, "' is a tensor inside a constant, expected a constant of its own");
    return tensor(tensors_.at(node.integer));
  case NodeKind::Packed:
    failOnPacked(node, path);
    return {};
  case NodeKind::Storage:
    fail("'", path, "' is a storage without a tensor");
  case NodeKind::List:
  case NodeKind::Tuple: {
    IValueList items;
    for (size_t i = 0; i < node.items.size(); ++i)
      items.push_back(valueOf(node.items[i], attributePath(path, std::to_string(i))));
    return IValue::list(std::move(items), node.kind == NodeKind::Tuple);
  }
  case NodeKind::Dict: {
    auto out = std::make_shared<Dictionary>();
    for (size_t i = 0; i + 1 < node.items.size(); i += 2)
      out->set(valueOf(node.items[i], path), valueOf(node.items[i + 1], path));
    return IValue(aten::ObjectRef(out));
  }
  case NodeKind::Object:
    return makeObject(node, path);
  }
  return {};
}

IValue ObjectBuilder::makeObject(const Node &node, const std::string &path) {
  auto out = std::make_shared<Instance>();
  out->definition = program_.findClass(node.text);
  out->path = path;
  for (size_t i = 0; i + 1 < node.items.size(); i += 2) {
    const std::string &name = pickle_[node.items[i]].text;
    std::string full = attributePath(path, name);
    std::optional<size_t> named = table_.named(full); // of a parameter that was tied or untied
    bool isTensor = pickle_[node.items[i + 1]].kind == NodeKind::Tensor;
    out->attributes[name] = isTensor && named ? tensor(*named) : valueOf(node.items[i + 1], full);
  }
  return IValue(aten::ObjectRef(out));
}

IValue ObjectBuilder::tensor(size_t index) {
  auto known = made_.find(index);
  if (known == made_.end())
    known = made_.emplace(index, make_(index)).first;
  return known->second;
}

} // namespace cleave::torchscript
