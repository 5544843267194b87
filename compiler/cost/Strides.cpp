// Arithmetic of shapes and strides.
#include "compiler/cost/Strides.h"

#include "runtime/base/MatmulDims.h"

#include <algorithm>
#include <numeric>

namespace cleave::cost {

namespace {

using Dims = std::vector<MatmulDim>;

bool contains(const std::vector<int64_t> &list, size_t dim) {
  return std::find(list.begin(), list.end(), static_cast<int64_t>(dim)) != list.end();
}

// The last dim, or a dim of size 1; all others become batch dims.
MatmulDim takeLast(Dims &dims, Dims &batch) {
  if (dims.empty())
    return {1, 1, 1, 1};
  MatmulDim last = dims.back();
  dims.pop_back();
  batch.insert(batch.end(), dims.begin(), dims.end());
  return last;
}

bool hasUnitStride(int64_t rows, int64_t rowStride, int64_t columns, int64_t columnStride) {
  return rows == 1 || columns == 1 || rowStride == 1 || columnStride == 1;
}

Dims merged(Dims dims, bool isSorted) {
  if (!isSorted)
    std::stable_sort(dims.begin(), dims.end(),
                     [](const MatmulDim &a, const MatmulDim &b) { return a.lhs > b.lhs; });
  return mergeDims(dims);
}

// Whether products accept the operand: its contracting dims merge to one stride, and one dim has
// unit stride.
bool isUsable(const Strided &operand, const std::vector<int64_t> &batch,
              const std::vector<int64_t> &contracting) {
  if (std::any_of(operand.strides.begin(), operand.strides.end(),
                  [](int64_t stride) { return stride < 0; }))
    return false;
  Dims sums, free;
  for (size_t i = 0; i < operand.shape.size(); ++i)
    if (!contains(batch, i))
      (contains(contracting, i) ? sums : free)
          .push_back({operand.shape[i], operand.strides[i], 0, 0});
  sums = merged(sums, /*isSorted=*/false);
  free = merged(free, /*isSorted=*/true);
  if (sums.size() > 1)
    return false;
  const MatmulDim k = sums.empty() ? MatmulDim{1, 1, 1, 1} : sums[0],
                  f = free.empty() ? MatmulDim{1, 1, 1, 1} : free.back();
  return k.lhs > 0 && f.lhs > 0 && hasUnitStride(k.size, k.lhs, f.size, f.lhs);
}

Strided rowMajor(const Strided &tensor) {
  MemoryOrder order(tensor.shape.size());
  std::iota(order.begin(), order.end(), 0);
  return inOrder(tensor.shape, order);
}

} // namespace

std::optional<MemoryOrder> memoryOrder(const Strided &tensor) {
  MemoryOrder order(tensor.shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return tensor.strides[a] > tensor.strides[b]; });
  const Strided full = inOrder(tensor.shape, order);
  for (size_t i = 0; i < order.size(); ++i)
    if (tensor.shape[i] != 1 && tensor.strides[i] != full.strides[i])
      return std::nullopt;
  return order;
}

Strided inOrder(const std::vector<int64_t> &shape, const MemoryOrder &order) {
  Strided tensor{shape, std::vector<int64_t>(shape.size(), 1)};
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0; stride *= shape[order[i]])
    tensor.strides[order[i]] = stride;
  return tensor;
}

int64_t rowPitch(int64_t elements) {
  constexpr int64_t kChunk = 8, kLine = 64, kLong = 512; // a long row grows by an eighth at most
  if (elements % kChunk == 0 || elements < kLong)
    return elements;
  return (elements + kLine - 1) / kLine * kLine;
}

// Merges the old dims to runs of one stride, then splits the runs into the new dims, last dims
// first.
std::optional<std::vector<int64_t>> reshapedStrides(const Strided &tensor,
                                                    std::span<const int64_t> to) {
  std::vector<std::pair<int64_t, int64_t>> runs; // size, stride
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    if (tensor.shape[i] == 1)
      continue;
    if (!runs.empty() && runs.back().second == tensor.strides[i] * tensor.shape[i])
      runs.back() = {runs.back().first * tensor.shape[i], tensor.strides[i]};
    else
      runs.push_back({tensor.shape[i], tensor.strides[i]});
  }
  std::vector<int64_t> strides(to.size(), 1);
  int64_t left = 1, step = 1; // of the run in hand: elements not yet used up, and their stride
  for (size_t i = to.size(); i-- > 0;) {
    if (to[i] == 1)
      continue;
    if (left == 1) {
      if (runs.empty())
        return std::nullopt;
      std::tie(left, step) = runs.back();
      runs.pop_back();
    }
    if (left % to[i] != 0)
      return std::nullopt;
    strides[i] = step;
    left /= to[i];
    step *= to[i];
  }
  return strides;
}

std::optional<ProductForm> productForm(const ProductDims &dims, const Strided &lhs,
                                       const Strided &rhs, const Strided &out) {
  Dims batch, rows, columns, sums;
  size_t o = 0;
  for (size_t i = 0; i < dims.lhsBatch.size(); ++i, ++o) {
    const int64_t l = dims.lhsBatch[i], r = dims.rhsBatch[i];
    batch.push_back({lhs.shape[l], lhs.strides[l], rhs.strides[r], out.strides[o]});
  }
  for (size_t l = 0; l < lhs.shape.size(); ++l)
    if (!contains(dims.lhsBatch, l) && !contains(dims.lhsContracting, l))
      rows.push_back({lhs.shape[l], lhs.strides[l], 0, out.strides[o++]});
  for (size_t r = 0; r < rhs.shape.size(); ++r)
    if (!contains(dims.rhsBatch, r) && !contains(dims.rhsContracting, r))
      columns.push_back({rhs.shape[r], 0, rhs.strides[r], out.strides[o++]});
  for (size_t i = 0; i < dims.lhsContracting.size(); ++i) {
    const int64_t l = dims.lhsContracting[i], r = dims.rhsContracting[i];
    sums.push_back({lhs.shape[l], lhs.strides[l], rhs.strides[r], 0});
  }
  batch = mergeDims(batch);
  rows = mergeDims(rows);
  columns = mergeDims(columns);
  sums = merged(sums, /*isSorted=*/false);
  if (sums.size() > 1)
    return std::nullopt;
  const MatmulDim m = takeLast(rows, batch), n = takeLast(columns, batch),
                  k = sums.empty() ? MatmulDim{1, 1, 1, 1} : sums[0];
  if (!hasUnitStride(m.size, m.lhs, k.size, k.lhs) ||
      !hasUnitStride(k.size, k.rhs, n.size, n.rhs) || !hasUnitStride(m.size, m.out, n.size, n.out))
    return std::nullopt;
  ProductForm form{.m = m.size, .n = n.size, .k = k.size};
  // The transposed product writes its rows in order.
  form.isSwapped = m.size != 1 && n.size != 1 && n.out != 1;
  for (const MatmulDim &dim : batch) {
    form.batch.push_back(dim.size);
    form.lhs.push_back(form.isSwapped ? dim.rhs : dim.lhs);
    form.rhs.push_back(form.isSwapped ? dim.lhs : dim.rhs);
    form.out.push_back(dim.out);
  }
  auto matrix = [](std::vector<int64_t> &strides, int64_t row, int64_t column) {
    strides.insert(strides.end(), {row, column});
  };
  if (form.isSwapped) {
    std::swap(form.m, form.n);
    matrix(form.lhs, n.rhs, k.rhs);
    matrix(form.rhs, k.lhs, m.lhs);
    matrix(form.out, n.out, m.out);
  } else {
    matrix(form.lhs, m.lhs, k.lhs);
    matrix(form.rhs, k.rhs, n.rhs);
    matrix(form.out, m.out, n.out);
  }
  return form;
}

ProductCopies productCopies(const ProductDims &dims, const Strided &lhs, const Strided &rhs,
                            const Strided &out) {
  ProductCopies copies{.lhs = !isUsable(lhs, dims.lhsBatch, dims.lhsContracting),
                       .rhs = !isUsable(rhs, dims.rhsBatch, dims.rhsContracting)};
  const Strided left = copies.lhs ? rowMajor(lhs) : lhs, right = copies.rhs ? rowMajor(rhs) : rhs;
  copies.out = !productForm(dims, left, right, out);
  copies.grouped = copies.out && !productForm(dims, left, right, rowMajor(out));
  return copies;
}

} // namespace cleave::cost
