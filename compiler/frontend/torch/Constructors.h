// Constructors: the closed list of classes and functions that a pickle may name, and their results.
// Used by the pickle reader only.
#pragma once

#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/torch/Pickle.h"

namespace cleave::torch {

class Constructors {
public:
  // `pickle` receives the nodes; `name` is its name in messages, `bytes` its size in the file.
  // Storages are entries below `storageFolder`.
  Constructors(Pickle &pickle, const std::string &name, const std::string &storageFolder,
               uint64_t bytes)
      : pickle_(pickle), name_(name), folder_(storageFolder), tableSize_(pickle.tensors.size()),
        bytes_(bytes) {}

  // Adds a node. Fails where strings and lists, which a pickle can repeat with few bytes, grow out
  // of proportion to the file.
  NodeId add(Node node);
  // The node for the global `module.name`; fails if it is not in the list.
  NodeId global(const std::string &name);
  // The result of a constructor for a tuple of arguments.
  NodeId construct(NodeId constructor, NodeId arguments);
  // Sets the attributes of an object.
  void setState(NodeId object, NodeId state);
  // The storage with a persistent id.
  NodeId storage(NodeId id);

private:
  // Fails with `what` was found (runtime/base/Concat.h).
  template <typename... Parts> [[noreturn]] void wrong(const Parts &...what) const {
    emit::fail("the pickle '", name_, "' ", what..., "; save the model again");
  }
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
  size_t tableSize_; // tensors that the pickle refers to by number
  uint64_t bytes_, spent_ = 0;
};

} // namespace cleave::torch
