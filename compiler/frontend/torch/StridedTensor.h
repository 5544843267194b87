// StridedTensor: a tensor of an archive as PyTorch stores it: a strided window of the elements of
// one entry.
#pragma once

#include "compiler/frontend/torch/Archive.h"
#include "dialects/interfaces/Tensor.h"

#include <optional>

namespace cleave::torch {

struct StridedTensor {
  std::string entry;                  // name of the storage's entry in the archive
  std::optional<ElementType> element; // none: not supported
  std::string elementName;            // PyTorch's name, for messages
  int64_t storageElements = -1;       // elements of the storage; negative: unknown
  int64_t offset = 0;                 // of the first element in the storage, in elements
  std::vector<int64_t> dims;          // sizes
  std::vector<int64_t> strides;       // elements between neighbours along each dim
  bool requiresGrad = false;          // PyTorch's flag
  bool isAbsent = false;              // the archive has no elements

  // The product of the dims.
  int64_t elementCount() const;
  // Whether both are the same elements in the same order.
  bool isSameAs(const StridedTensor &other) const;
  // Whether the ranges of both in one storage overlap.
  bool mayOverlap(const StridedTensor &other) const;
};

// The two parts of complex numbers: the elements of a checked tensor as floats, with one dim of
// size 2 more. None if the elements are others.
std::optional<StridedTensor> pairsOf(const StridedTensor &tensor);

// Fails unless dims and strides are valid and stay within the storage; `name` is the tensor's in
// messages.
void checkTensor(const StridedTensor &tensor, const std::string &name);

// Fails: the tensor `name` has elements of a type (PyTorch's name) that is not supported.
[[noreturn]] void failOnElements(const std::string &name, const std::string &elementName);
// The element type; fails where it is not supported.
ElementType elementOf(const StridedTensor &tensor, const std::string &name);

// The tensor's entry; fails where it is missing or does not have the size of the storage.
const Entry &entryOf(const Archive &archive, const StridedTensor &tensor, const std::string &name);

// Reads the elements; the entry may be compressed. Fails beyond 16 MiB and where Archive::spend
// does.
Tensor readTensor(const Archive &archive, const StridedTensor &tensor, const std::string &name);

} // namespace cleave::torch
