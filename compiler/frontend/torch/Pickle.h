// Pickle: the contents of a pickle of PyTorch as plain data. Nothing in it is executed: the
// constructors that models need are known by name (Constructors.h), all others are refused.
#pragma once

#include "compiler/frontend/torch/StridedTensor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::torch {

// Index of a node in Pickle::nodes. References to one node are references to one object in Python.
using NodeId = uint32_t;

// One object of the pickle; its kind says which fields are set.
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
    Packed,  // text: the class of an object that packs quantized weights, which importers refuse
    Tensor,  // integer: index in Pickle::tensors
    Storage, // integer: likewise, of a tensor that represents the whole storage
    Device,  // text: `cpu`, `cuda:0`
    Global   // text: a known global, such as `torch.float32`
  };
  // The content, as the comments of Kind describe.
  Kind kind = Kind::None;
  int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<NodeId> items;
};

// A whole pickle.
struct Pickle {
  std::vector<Node> nodes;            // in the order of creation
  std::vector<StridedTensor> tensors; // that nodes of the kinds Tensor and Storage refer to
  NodeId root = 0;                    // the pickled object

  const Node &operator[](NodeId id) const { return nodes[id]; }
};

// Deeper nesting is refused, so that recursion over a pickle is safe. Recursion must remember
// visited nodes, since shared ones are reachable on many paths.
inline constexpr int kMaxPickleDepth = 200;

// Reads `bytes`; `name` is the pickle's name in messages, and storages are entries below
// `storageFolder` (`data/`). `table` contains the tensors that the pickle refers to by number, as
// those of PyTorch 1.3 and before do; they are the first of the result's. Fails on damage, unknown
// constructors, and objects that contain themselves.
Pickle readPickle(std::string_view bytes, const std::string &name, const std::string &storageFolder,
                  std::vector<StridedTensor> table = {});

// PyTorch's name of an element type (`float32`, `bfloat16`, …); none if Cleave has no such type.
std::optional<ElementType> elementTypeNamed(const std::string &name);

} // namespace cleave::torch
