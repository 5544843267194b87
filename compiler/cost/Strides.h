// Strides: tensors whose elements lie in memory in another order than row-major. Which reshapes and
// products they permit, and which copies the others need. The program (passes/bufferize) is built
// by these rules, and the copies are priced by them for the block of one rank: a block whose dims
// have one element permits more than the whole tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cleave::cost {

// A tensor addressed by strides, in elements.
struct Strided {
  std::vector<int64_t> shape, strides;
};

// Dims from major to minor.
using MemoryOrder = std::vector<int>;

// The order of a tensor that fills its memory without gaps; nothing for other ones.
std::optional<MemoryOrder> memoryOrder(const Strided &tensor);
// The tensor of this shape that fills its memory in this order.
Strided inOrder(const std::vector<int64_t> &shape, const MemoryOrder &order);

// The strides of the same elements in row-major order with another shape; none if no strides
// describe them.
std::optional<std::vector<int64_t>> reshapedStrides(const Strided &tensor,
                                                    std::span<const int64_t> to);

// How many elements apart the rows of a 16-bit operand or result of a product lie on a GPU. Its
// libraries read 16 bytes at once, and by TMA at all, only where every row begins at a multiple of
// 16 bytes (cuBLAS, "Tensor Core Usage"; CUDA, cuTensorMapEncodeTiled). Long rows of other lengths,
// such as logits over 50257 words, are aligned to 128 bytes, a cache line.
int64_t rowPitch(int64_t elements);

// The dims of a dot_general; all others are rows of the left and columns of the right operand.
struct ProductDims {
  std::vector<int64_t> lhsBatch, rhsBatch, lhsContracting, rhsContracting;
};

// A batched product of matrices. Strides: one per batch dim, then those of rows and columns.
struct ProductForm {
  std::vector<int64_t> batch;
  int64_t m = 1, n = 1, k = 1;
  std::vector<int64_t> lhs, rhs, out;
  bool isSwapped = false; // `lhs` is that of the right operand, and the result is transposed
};

// The product on operands and result in their layouts. Dims of which one stride is the extent of
// the next are merged; if several row (column) dims remain, all but the last become batch dims.
// None if the contracting dims do not merge to one stride per operand, or if a matrix has unit
// stride in neither dim: then an operand must be copied first.
std::optional<ProductForm> productForm(const ProductDims &dims, const Strided &lhs,
                                       const Strided &rhs, const Strided &out);

// The copies that a product needs until it has a form, in this order.
struct ProductCopies {
  bool lhs = false, rhs = false; // to row-major order
  bool out = false;              // of the result from a buffer in row-major order
  bool grouped = false;          // of both operands, so that their contracting dims are the last
};
ProductCopies productCopies(const ProductDims &dims, const Strided &lhs, const Strided &rhs,
                            const Strided &out);

} // namespace cleave::cost
