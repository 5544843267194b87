// RowSums: the loops over the reduced factors of a nest of kind Rows, and the order of its sums.
//
// The order depends on the sizes of the reduced factors alone. Were it left to LLVM, it would
// depend on what else the kernel computes, and losses on where a model is cut into stages. For an
// innermost factor of `size` elements:
//
//   * There are `count` partial sums: the largest power of 2 that is at most 64 and at most `size`.
//     Element i is added to partial sum i % count.
//   * The last size % 8 elements are added to one more sum, one after the other.
//   * The upper half of the partial sums is added to the lower half until one is left. The sum of
//     the last elements is added to that one.
//   * Below 8 elements there are no partial sums: the elements are added one after the other.
//
// Products, maxima and minima are computed in the same order.
#pragma once

#include "passes/codegen/cpu/CpuKernel.h"

namespace cleave::codegen {

// The loops of one pass over the rows of `nest`, whose reductions may be none.
class RowSums {
public:
  // Emits the element at the current indices and returns the operands of the reductions there.
  using Element = llvm::function_ref<llvm::SmallVector<mlir::Value>()>;

  // `index` holds the indices of all factors; those of the reduced ones are set for each element.
  RowSums(CpuKernel &kernel, const GroupNest &nest, llvm::ArrayRef<graph::ReduceOp> reductions,
          llvm::MutableArrayRef<mlir::Value> index, Element element);
  // Returns the results of the reductions for the current row, not yet rounded.
  llvm::SmallVector<mlir::Value> emit();

private:
  void lanes(int64_t count, const KernelBuilder::Body &body);
  mlir::Value combine(size_t reduction, mlir::Value a, mlir::Value b);
  mlir::Value neutral(size_t reduction);
  llvm::SmallVector<mlir::Value> emitFactor(size_t depth, mlir::ValueRange rest);
  int64_t emitVectors(int64_t size);
  void emitLanes(mlir::Value first, int64_t partial, int64_t count);
  mlir::Value total(size_t reduction);

  CpuKernel &k_;
  const GroupNest &nest_;
  llvm::ArrayRef<graph::ReduceOp> reductions_;
  llvm::MutableArrayRef<mlir::Value> index_;
  Element element_;
  int64_t count_ = 1;                       // of partial sums
  llvm::SmallVector<mlir::Value> partials_; // of each reduction, in scratch memory, if count_ > 1
};

} // namespace cleave::codegen
