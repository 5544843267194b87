// See FrozenModel.h.
#include "compiler/frontend/torchscript/FrozenModel.h"

#include <algorithm>

namespace cleave::torchscript {

using torch::StridedTensor;

// Whether all elements of a vector are equal, as in the weights and biases of untrained norms.
static bool hasEqualElements(const torch::Archive &archive, const Stored &stored) {
  constexpr int64_t most = int64_t(1) << 20;
  if (stored.tensor.dims.size() != 1 || stored.tensor.elementCount() > most)
    return false;
  Tensor values = torch::readTensor(archive, stored.tensor, stored.name);
  return std::adjacent_find(values.values.begin(), values.values.end(), std::not_equal_to<>()) ==
         values.values.end();
}

// Whether b is the transpose of a and not all elements are equal. `budget`: elements that may be
// compared.
static bool isTransposed(const torch::Archive &archive, const Stored &a, const Stored &b,
                         int64_t &budget) {
  const StridedTensor &x = a.tensor, &y = b.tensor;
  if (x.dims.size() != 2 || y.dims.size() != 2 || x.element != y.element ||
      x.dims[0] != y.dims[1] || x.dims[1] != y.dims[0] || x.dims[0] < 2 || x.dims[1] < 2)
    return false;
  if ((budget -= 64) < 0) // finding the entries takes time, too
    return false;
  const torch::Entry &xEntry = torch::entryOf(archive, x, a.name),
                     &yEntry = torch::entryOf(archive, y, b.name);
  if (xEntry.isCompressed || yEntry.isCompressed)
    return false;
  std::string_view left = archive.mapped(xEntry), right = archive.mapped(yEntry);
  auto size = static_cast<size_t>(byteSize(*x.element)),
       first = static_cast<size_t>(x.offset) * size;
  bool differs = false;
  for (int64_t i = 0; i < x.dims[0]; ++i)
    for (int64_t j = 0; j < x.dims[1]; ++j) {
      if (--budget < 0)
        return false;
      size_t from = static_cast<size_t>(x.offset + i * x.strides[0] + j * x.strides[1]) * size;
      size_t to = static_cast<size_t>(y.offset + j * y.strides[0] + i * y.strides[1]) * size;
      if (left.compare(from, size, right, to, size) != 0)
        return false;
      differs |= left.compare(from, size, left, first, size) != 0;
    }
  return differs;
}

// A pair of random matrices that are each other's transpose is no coincidence.
static void findTransposed(const torch::Archive &archive, const std::vector<Stored> &tensors,
                           FrozenParameters &frozen) {
  // Elements that are compared at most. Only zeros that many tensors share, or dims of stride 0,
  // take more.
  int64_t budget = int64_t(1) << 28;
  const std::vector<size_t> &all = frozen.all;
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = 0; j < i && --budget >= 0 && !frozen.transposedOf.contains(all[i]); ++j)
      if (!frozen.transposedOf.contains(all[j]) &&
          isTransposed(archive, tensors[all[j]], tensors[all[i]], budget))
        frozen.transposedOf[all[i]] = all[j];
}

FrozenParameters findFrozenParameters(const torch::Archive &archive, TensorTable &table,
                                      const std::vector<size_t> &constants,
                                      const std::set<std::string> &statistics) {
  FrozenParameters frozen;
  for (size_t index : constants) {
    const Stored &stored = table.tensors()[index];
    const StridedTensor &tensor = stored.tensor;
    if (!tensor.element || !isFloat(*tensor.element) || tensor.dims.empty() ||
        tensor.elementCount() < 2 || statistics.contains(stored.name))
      continue;
    table.makeParameter(index); // freezing does not record which parameters are trained
    if (hasEqualElements(archive, stored))
      frozen.equalEverywhere.insert(index);
    frozen.all.push_back(index);
  }
  findTransposed(archive, table.tensors(), frozen);
  return frozen;
}

} // namespace cleave::torchscript
