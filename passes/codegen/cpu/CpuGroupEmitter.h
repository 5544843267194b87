// CpuGroupEmitter: the loops of a kernel group on CPUs. LLVM vectorises the innermost ones.
#pragma once

#include "passes/codegen/cpu/CpuKernel.h"
#include "passes/codegen/nest/GroupEmitter.h"

namespace cleave::codegen {

// Emits one kernel; `nest` is that of `fusion`, the kernel's computation.
class CpuGroupEmitter : public GroupEmitter {
public:
  CpuGroupEmitter(CpuKernel &kernel, graph::FusionOp fusion, const GroupNest &nest);

private:
  void emitPointwise() override;
  void emitTiles(const KernelBuilder::Body &element);
  void emitRows() override;
  void emitPoint();
  void emitColumns() override;
  void emitColumnRange(mlir::Value from, mlir::Value to, int64_t width);
  void accumulateColumns(mlir::Value from, mlir::Value to, llvm::ArrayRef<mlir::Value> scratch);
  void accumulateRows(mlir::Value row, int64_t rows, mlir::Value from, mlir::Value to,
                      llvm::ArrayRef<mlir::Value> scratch);
  void planScratch();
  llvm::SmallVector<mlir::Value> emitElement(size_t number);
  void outerLoop(const std::function<void()> &body);

  bool isKept(mlir::Value value) const override;
  mlir::Value loadKept(mlir::Value value) override;

  CpuKernel &cpu_;
  // Kind Rows, per pass: values that later passes read, and the scratch memory that holds them.
  llvm::SmallVector<llvm::SmallVector<std::pair<mlir::Value, mlir::Value>>> kept_;
  llvm::DenseMap<mlir::Value, mlir::Value> scratch_; // of the passes so far
};

} // namespace cleave::codegen
