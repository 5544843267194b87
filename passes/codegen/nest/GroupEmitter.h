// GroupEmitter: the elements of a kernel group, for every target; a target derives from it and
// emits the loops.
//
// Elements are computed by PointwiseInterface::buildScalar, each in the outermost loop that it
// depends on. 16-bit floats are f32 inside of a kernel: a value is rounded where it is stored, and
// by a graph.cast.
#pragma once

#include "passes/codegen/nest/KernelBuilder.h"

#include "llvm/ADT/SetVector.h"

namespace cleave::codegen {

// Emits one kernel; `nest` is that of `fusion`, the kernel's computation.
class GroupEmitter {
public:
  virtual ~GroupEmitter() = default;
  // Emits the whole body of the kernel.
  void emit();

protected:
  using Values = llvm::DenseMap<mlir::Value, mlir::Value>;
  using Roots = llvm::SmallVector<mlir::Value>;

  // Emits into the body of `kernel`.
  GroupEmitter(KernelBuilder &kernel, graph::FusionOp fusion, const GroupNest &nest);

  // The loops of each kind of nest.
  virtual void emitPointwise() = 0;
  virtual void emitRows() = 0;
  virtual void emitColumns() = 0;

  // Kinds Rows and Columns: one pass over R, and what it computes.
  struct Pass {
    llvm::SmallVector<graph::ReduceOp> reductions;
    Roots roots; // operands of the reductions, results of the group in the last pass
  };
  // Fills `passes_`.
  void planPasses();

  // Emits the values that `roots` depend on and that do not vary in the inner loops, at the
  // insertion point or before all loops.
  void emitOuter(llvm::ArrayRef<mlir::Value> roots);
  // Emits the other values that `roots` depend on at the insertion point.
  void emitInner(llvm::ArrayRef<mlir::Value> roots);
  // The emitted scalar of a value.
  mlir::Value valueOf(mlir::Value value);
  // The scalar `wide`, rounded if `value` is stored, so that other kernels see the same number.
  mlir::Value asStored(mlir::Value value, mlir::Value wide);

  // Whether an earlier pass wrote the value to memory, and its element at the current indices.
  virtual bool isKept(mlir::Value value) const { return false; }
  virtual mlir::Value loadKept(mlir::Value value) { return {}; }
  // Emits the scalar code of one op.
  virtual mlir::Value emitOp(mlir::Operation *op);
  // An element of an operand or result at the current indices.
  virtual mlir::Value loadElement(const Access &access);
  virtual void storeElement(mlir::Value scalar, const Access &access);

  mlir::Value addressOf(const Access &access);
  // Whether the value varies in the inner loops, and whether in a reduced factor.
  bool hasInner(mlir::Value value) const { return nest_.hasInner(value); }
  bool hasRows(mlir::Value value) const;
  bool isColumnSum(mlir::Value value) const { return nest_.columnSums.contains(value); }
  // The group's results.
  mlir::OperandRange results() const { return body_.getTerminator()->getOperands(); }
  Roots resultsThat(llvm::function_ref<bool(mlir::Value)> isChosen) const;
  // Stores the chosen results at the current indices.
  void storeResults(llvm::function_ref<bool(mlir::Value)> isChosen);
  void storeInnerResults();
  void storeOuterResults();
  // The position in R of the current indices.
  mlir::Value linearReduced();

  KernelBuilder &k_;
  const GroupNest &nest_;
  mlir::Block &body_;
  llvm::SmallVector<mlir::Value> index_; // per factor
  Values outer_, inner_;                 // emitted values
  llvm::SmallVector<Pass> passes_;
  mlir::Operation *loops_ = nullptr; // before which values without factors are emitted

private:
  // The values that `roots` depend on and that have not been emitted, operands first.
  Roots needed(llvm::ArrayRef<mlir::Value> roots);
  mlir::Value emitValue(mlir::Value value);
  bool isAvailable(mlir::Value value) const;
  bool isReduction(mlir::Operation *op) const;
};

} // namespace cleave::codegen
