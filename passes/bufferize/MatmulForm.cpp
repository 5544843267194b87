// Sorts dims into batch, row, column and contracting ones and merges them where the strides of all
// operands allow it.
#include "passes/bufferize/MatmulForm.h"

#include "runtime/base/MatmulDims.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace cleave::bufferize {

namespace {

using Dim = MatmulDim;
using Dims = std::vector<MatmulDim>;

// The last dim, or a dim of size 1; all others become batch dims.
Dim takeLast(Dims &dims, Dims &batch) {
  if (dims.empty())
    return {1, 1, 1, 1};
  Dim last = dims.back();
  dims.pop_back();
  llvm::append_range(batch, dims);
  return last;
}

bool hasUnitStride(int64_t rows, int64_t rowStride, int64_t columns, int64_t columnStride) {
  return rows == 1 || columns == 1 || rowStride == 1 || columnStride == 1;
}

bool contains(ArrayRef<int64_t> list, size_t dim) {
  return llvm::is_contained(list, static_cast<int64_t>(dim));
}

} // namespace

std::optional<MatmulForm> matmulForm(graph::DotGeneralOp dot, const View &lhs, const View &rhs,
                                     const View &out) {
  Dims batch, rows, columns, sums;
  size_t o = 0;
  for (auto [l, r] : llvm::zip(dot.getLhsBatch(), dot.getRhsBatch())) {
    batch.push_back({lhs.shape[l], lhs.strides[l], rhs.strides[r], out.strides[o]});
    ++o;
  }
  for (size_t l = 0; l < lhs.shape.size(); ++l)
    if (!contains(dot.getLhsBatch(), l) && !contains(dot.getLhsContracting(), l)) {
      rows.push_back({lhs.shape[l], lhs.strides[l], 0, out.strides[o]});
      ++o;
    }
  for (size_t r = 0; r < rhs.shape.size(); ++r)
    if (!contains(dot.getRhsBatch(), r) && !contains(dot.getRhsContracting(), r)) {
      columns.push_back({rhs.shape[r], 0, rhs.strides[r], out.strides[o]});
      ++o;
    }
  for (auto [l, r] : llvm::zip(dot.getLhsContracting(), dot.getRhsContracting()))
    sums.push_back({lhs.shape[l], lhs.strides[l], rhs.strides[r], 0});
  llvm::stable_sort(sums, [](const Dim &a, const Dim &b) { return a.lhs > b.lhs; });
  for (Dims *dims : {&batch, &rows, &columns, &sums})
    *dims = mergeDims(*dims);
  if (sums.size() > 1)
    return std::nullopt;
  Dim m = takeLast(rows, batch), n = takeLast(columns, batch),
      k = sums.empty() ? Dim{1, 1, 1, 1} : sums[0];
  MatmulForm form{{},
                  m.size,
                  n.size,
                  k.size,
                  {lhs.buffer, lhs.offset},
                  {rhs.buffer, rhs.offset},
                  {out.buffer, out.offset}};
  for (const Dim &dim : batch) {
    form.batch.push_back(dim.size);
    form.lhs.strides.push_back(dim.lhs);
    form.rhs.strides.push_back(dim.rhs);
    form.out.strides.push_back(dim.out);
  }
  if (!hasUnitStride(m.size, m.lhs, k.size, k.lhs) ||
      !hasUnitStride(k.size, k.rhs, n.size, n.rhs) || !hasUnitStride(m.size, m.out, n.size, n.out))
    return std::nullopt;
  auto matrix = [](View &view, int64_t row, int64_t column) { view.strides.append({row, column}); };
  bool swap =
      m.size != 1 && n.size != 1 && n.out != 1; // the transposed product writes its rows in order
  if (swap) {
    std::swap(form.m, form.n);
    std::swap(form.lhs, form.rhs);
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

bool isUsable(const View &operand, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracting) {
  if (llvm::any_of(operand.strides, [](int64_t stride) { return stride < 0; }))
    return false;
  Dims sums, free;
  for (size_t i = 0; i < operand.shape.size(); ++i)
    if (!contains(batch, i))
      (contains(contracting, i) ? sums : free)
          .push_back({operand.shape[i], operand.strides[i], 0, 0});
  llvm::stable_sort(sums, [](const Dim &a, const Dim &b) { return a.lhs > b.lhs; });
  sums = mergeDims(sums);
  free = mergeDims(free);
  if (sums.size() > 1)
    return false;
  Dim k = sums.empty() ? Dim{1, 1, 1, 1} : sums[0],
      f = free.empty() ? Dim{1, 1, 1, 1} : free.back();
  return k.lhs > 0 && f.lhs > 0 && hasUnitStride(k.size, k.lhs, f.size, f.lhs);
}

} // namespace cleave::bufferize
