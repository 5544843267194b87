// Constructors: the closed list of what a pickle may name, and what each of it makes. Used by the
// pickle reader only.
#pragma once

#include "compiler/frontend/torch/Pickle.h"

namespace cleave::torch {

class Constructors {
public:
  // `bytes`: of the pickle.
  Constructors(Pickle &pickle, const std::string &name, const std::string &storageFolder,
               uint64_t bytes)
      : pickle_(pickle), name_(name), folder_(storageFolder), tableSize_(pickle.tensors.size()),
        bytes_(bytes) {}

  // Fails where texts and lists, which a pickle can repeat with few bytes, grow out of proportion.
  NodeId add(Node node);
  // The node for `module.name`; fails if that is nothing a model needs.
  NodeId global(const std::string &name);
  // What the constructor makes of a tuple of arguments.
  NodeId construct(NodeId constructor, NodeId arguments);
  // Gives an object its attributes.
  void setState(NodeId object, NodeId state);
  // The storage that a persistent id stands for.
  NodeId storage(NodeId id);

private:
  [[noreturn]] void wrong(const std::string &what) const;
  void spend(uint64_t bytes);
  const Node &argument(NodeId arguments, size_t i, Node::Kind kind) const;
  std::vector<int64_t> integers(const Node &node);
  StridedTensor window(NodeId arguments, size_t gradient);
  StridedTensor typedWindow(NodeId arguments);
  NodeId addTensor(StridedTensor tensor);
  NodeId tensorOfTable(NodeId arguments);
  NodeId makeDict(NodeId arguments);

  Pickle &pickle_;
  std::string name_, folder_;
  size_t tableSize_; // tensors that have numbers
  uint64_t bytes_, spent_ = 0;
};

} // namespace cleave::torch
