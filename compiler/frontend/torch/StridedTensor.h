// StridedTensor: a tensor of an archive as PyTorch stores it, a strided window of one entry's
// elements. Where the runtime finds those is in Origin.h.
#pragma once

#include "compiler/frontend/torch/Archive.h"
#include "dialects/interfaces/Tensor.h"

#include <optional>

namespace cleave::torch {

struct StridedTensor {
  std::string entry;                  // name of the storage's entry in the archive
  std::optional<ElementType> element; // none: one that Cleave does not compute with
  std::string elementName;            // as PyTorch calls it, for messages
  int64_t storageElements = -1;       // that the entry must have; negative: unknown
  int64_t offset = 0;                 // of the first element in the storage, in elements
  std::vector<int64_t> dims;
  std::vector<int64_t> strides; // elements between neighbours along each dim
  bool requiresGrad = false;

  int64_t elementCount() const;
  // Whether both are the same elements in the same order.
  bool isSameAs(const StridedTensor &other) const;
};

// Fails unless dims and strides are sound and stay within the storage's elements.
void checkTensor(const StridedTensor &tensor, const std::string &name);

// The element type; fails (calling the tensor `name`) where Cleave does not compute with it.
ElementType elementOf(const StridedTensor &tensor, const std::string &name);

// The tensor's entry; fails where it is missing, too short, or not of the storage's size.
const Entry &entryOf(const Archive &archive, const StridedTensor &tensor, const std::string &name);

// The elements as plain data; the entry may be compressed. Fails beyond 16 MiB, and
// where Archive::spend does.
Tensor readTensor(const Archive &archive, const StridedTensor &tensor, const std::string &name);

} // namespace cleave::torch
