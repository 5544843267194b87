// RowSums: the loops over the reduced factors of a nest of kind Rows, and the order of its sums.
//
// It depends on the size of the innermost factor alone: element i is added to the partial sum
// i % count, where count is the largest power of 2 that is at most 64 and at most the size; the
// upper half of the partial sums is added to the lower one until one is left, and to that the last
// size % 8 elements, which are summed apart. Rows of less than 8 elements are summed one after the
// other. Were it left to LLVM, the order would depend on what else a kernel computes, and losses on
// where a model is cut into stages. Products, maxima and minima are formed alike.
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
