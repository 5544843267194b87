// Lowers dot_general ops to products of matrices, which add to a sum over micro-batches or add a
// bias where they can.
#pragma once

#include "passes/bufferize/GpuLibraries.h"
#include "passes/bufferize/ProductBias.h"
#include "passes/bufferize/Sums.h"

namespace cleave::bufferize {

// Keeps references to the constructor's arguments.
class ProductLowering {
public:
  ProductLowering(ProgramBuilder &program, ValueBuffers &buffers, ValueViews &views,
                  GpuLibraries &libraries, MicroBatchSums &sums)
      : program_(program), buffers_(buffers), views_(views), libraries_(libraries), sums_(sums) {}

  // Adds the instruction, and copies of the tensors that it does not accept.
  void lower(graph::DotGeneralOp op);

  // The operands and the result of a product, whose order in memory decides what it copies; empty
  // for other ops.
  llvm::ArrayRef<cost::Strided> stridedOf(mlir::Operation *op) const;

private:
  // On GPUs the bias that the product may add, which is computed before the product; else none.
  std::optional<ProductBias> biasOf(graph::DotGeneralOp op) const;
  // A dense buffer of the elements, converted to this type.
  mlir::Value wholeBufferOf(mlir::Value value, mlir::Type element);

  ProgramBuilder &program_;
  ValueBuffers &buffers_;
  ValueViews &views_;
  GpuLibraries &libraries_;
  MicroBatchSums &sums_;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<cost::Strided, 3>> strided_;
};

} // namespace cleave::bufferize
