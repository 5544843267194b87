// GpuLibraries: the workspaces and tf32 flags of products, convolutions and attention that GPU
// libraries compute.
#pragma once

#include "passes/bufferize/ProgramBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace cleave::bufferize {

// Keeps a reference to the program.
class GpuLibraries {
public:
  GpuLibraries(mlir::func::FuncOp step, ProgramBuilder &program);

  // A buffer of this many bytes (Workspace.h); null on CPUs and for 0 bytes.
  mlir::Value newWorkspace(int64_t bytes);
  // Set if a product of factors like this one may multiply in tf32; null on CPUs.
  mlir::UnitAttr tf32For(const View &factor);

private:
  ProgramBuilder &program_;
  bool isForGpus_;
  bool usesTf32_; // on GPUs, for f32
};

} // namespace cleave::bufferize
