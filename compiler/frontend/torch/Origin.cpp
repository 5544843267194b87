// See Origin.h.
#include "compiler/frontend/torch/Origin.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace cleave::torch {
namespace {

// The dims by falling stride; dims of size 1 keep their places.
std::vector<int64_t> byStride(const StridedTensor &tensor) {
  std::vector<int64_t> order(tensor.dims.size()), large;
  std::iota(order.begin(), order.end(), 0);
  auto isLarge = [&](int64_t dim) { return tensor.dims[dim] > 1; };
  std::copy_if(order.begin(), order.end(), std::back_inserter(large), isLarge);
  std::stable_sort(large.begin(), large.end(),
                   [&](int64_t a, int64_t b) { return tensor.strides[a] > tensor.strides[b]; });
  auto next = large.begin();
  for (int64_t &dim : order)
    if (isLarge(dim))
      dim = *next++;
  return order;
}

// Whether the elements fill a range when the dims are taken in this order.
bool isDense(const StridedTensor &tensor, const std::vector<int64_t> &order) {
  int64_t expected = 1;
  for (size_t i = order.size(); i-- > 0;) {
    int64_t dim = order[i];
    if (tensor.dims[dim] != 1 && tensor.strides[dim] != expected)
      return false;
    expected *= tensor.dims[dim];
  }
  return true;
}

} // namespace

graph::TensorOrigin originOf(const Archive &archive, const StridedTensor &tensor,
                             const std::string &name) {
  const Entry &entry = entryOf(archive, tensor, name);
  graph::TensorOrigin origin;
  std::vector<int64_t> order = byStride(tensor);
  if (!isDense(tensor, order)) {
    origin.kind = graph::TensorOrigin::Kind::Inline;
    origin.data = readTensor(archive, tensor, name);
    return origin;
  }
  archive.mapped(entry); // fails if it is compressed
  origin.kind = graph::TensorOrigin::Kind::File;
  origin.element = *tensor.element;
  origin.offset = entry.offset + uint64_t(tensor.offset * byteSize(*tensor.element));
  origin.bytes = uint64_t(tensor.elementCount() * byteSize(*tensor.element));
  if (!std::is_sorted(order.begin(), order.end())) {
    origin.permutation.resize(order.size()); // dim i of the tensor is stored dim permutation[i]
    for (size_t i = 0; i < order.size(); ++i)
      origin.permutation[order[i]] = static_cast<int64_t>(i);
  }
  return origin;
}

} // namespace cleave::torch
