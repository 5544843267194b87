// GroupEmitter: emits the loops of a kernel group. Elements are computed by
// PointwiseInterface::buildScalar, each in the outermost loop that it depends on. 16-bit floats are
// f32 inside of a kernel: a value is rounded where it is stored, and by a graph.cast.
#pragma once

#include "passes/codegen/cpu/KernelBuilder.h"

#include "llvm/ADT/SetVector.h"

namespace cleave::codegen {

// Emits one kernel; `nest` is that of `fusion`, the kernel's computation.
class GroupEmitter {
public:
  // Emits into the body of `kernel`.
  GroupEmitter(KernelBuilder &kernel, graph::FusionOp fusion, const GroupNest &nest);
  // Emits the whole body of the kernel.
  void emit();

private:
  using Values = llvm::DenseMap<mlir::Value, mlir::Value>;
  using Roots = llvm::SmallVector<mlir::Value>;

  void emitPointwise();
  void emitTiles(const KernelBuilder::Body &element);
  void emitRows();
  void emitPoint();
  void emitColumns();
  void emitColumnRange(mlir::Value from, mlir::Value to, int64_t width);
  void accumulateColumns(mlir::Value from, mlir::Value to, llvm::ArrayRef<mlir::Value> scratch);
  void accumulateRows(mlir::Value row, int64_t rows, mlir::Value from, mlir::Value to,
                      llvm::ArrayRef<mlir::Value> scratch);

  // Kind Rows: one pass over R, and what it computes.
  struct Pass {
    llvm::SmallVector<graph::ReduceOp> reductions;
    Roots roots; // operands of the reductions, results of the group in the last pass
    // Values that later passes read, and the scratch memory that holds them.
    llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> kept;
  };
  void planPasses();
  void planScratch();
  llvm::SmallVector<mlir::Value> emitPassLoops(const Pass &pass, size_t depth,
                                               mlir::ValueRange carried);
  llvm::SmallVector<mlir::Value> emitPassBody(const Pass &pass, mlir::ValueRange carried);

  // Emits the values that `roots` depend on and that do not vary in the inner loops, at the
  // insertion point or before all loops.
  void emitOuter(llvm::ArrayRef<mlir::Value> roots);
  // Emits the other values that `roots` depend on at the insertion point.
  void emitInner(llvm::ArrayRef<mlir::Value> roots);
  // The values that `roots` depend on and that have not been emitted, operands first.
  Roots needed(llvm::ArrayRef<mlir::Value> roots);
  mlir::Value emitValue(mlir::Value value);
  mlir::Value emitOp(mlir::Operation *op);
  mlir::Value valueOf(mlir::Value value);
  // The scalar `wide`, rounded if `value` is stored, so that other kernels see the same number.
  mlir::Value asStored(mlir::Value value, mlir::Value wide);
  bool isAvailable(mlir::Value value) const;
  bool isReduction(mlir::Operation *op) const;

  mlir::Value addressOf(const Access &access);
  // Stores the chosen results at the current indices.
  void storeResults(llvm::function_ref<bool(mlir::Value)> isChosen);
  void storeInnerResults();
  void storeOuterResults();
  bool hasRows(mlir::Value value) const;
  mlir::Value linearReduced();
  void outerLoop(const std::function<void()> &body);

  KernelBuilder &k_;
  const GroupNest &nest_;
  mlir::Block &body_;
  llvm::SmallVector<mlir::Value> index_;             // per factor
  Values outer_, inner_;                             // emitted values
  llvm::DenseMap<mlir::Value, mlir::Value> scratch_; // memory of values that earlier passes kept
  llvm::SmallVector<Pass> passes_;
  mlir::Operation *loops_ = nullptr; // before which values without factors are emitted
};

} // namespace cleave::codegen
