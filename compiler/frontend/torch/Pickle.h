// Pickle: what a pickle of PyTorch's says, as plain data. Nothing in it is ever called: the few
// constructors that models need are known by name, everything else is refused by name.
#pragma once

#include "compiler/frontend/torch/StridedTensor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::torch {

// Index of a node in Pickle::nodes. Two places that hold the same node are one object in Python.
using NodeId = uint32_t;

struct Node {
  enum class Kind {
    None,
    Bool,    // integer
    Int,     // integer
    Float,   // number
    String,  // text
    List,    // items
    Tuple,   // items
    Dict,    // items: key, value, key, value, …
    Object,  // text: the class `__torch__.…`; items: attribute's name, value, …
    Packed,  // text: the class of an object that packs quantized weights; refused where it is met
    Tensor,  // integer: index in Pickle::tensors
    Storage, // integer: likewise, of a tensor that stands for the storage itself
    Device,  // text: `cpu`, `cuda:0`
    Global   // text: a known name that stands for itself, such as `torch.float32`
  };
  Kind kind = Kind::None;
  int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<NodeId> items;
};

struct Pickle {
  std::vector<Node> nodes;
  std::vector<StridedTensor> tensors;
  NodeId root = 0;

  const Node &operator[](NodeId id) const { return nodes[id]; }
};

// Deeper nesting than this is refused, so recursion over a pickle is safe. Recursion must remember
// nodes that it has seen: shared ones may be reached in many ways.
inline constexpr int kMaxPickleDepth = 200;

// Reads `bytes`, called `name` in messages; storages are entries in the archive's folder
// `storageFolder` (`data/`). `table` are tensors that the pickle refers to by their numbers, as those of
// PyTorch 1.3 and before do; they are the first of the result's. Fails on damage, on other constructors, and on objects
// that contain themselves.
Pickle readPickle(std::string_view bytes, const std::string &name, const std::string &storageFolder,
                  std::vector<StridedTensor> table = {});

// PyTorch's name of an element type (`float32`, `bfloat16`, …); none if Cleave has no such type.
std::optional<ElementType> elementTypeNamed(const std::string &name);

} // namespace cleave::torch
