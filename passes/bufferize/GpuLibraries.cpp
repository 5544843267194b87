#include "passes/bufferize/GpuLibraries.h"

#include "dialects/graph/Step.h"

using namespace mlir;

namespace cleave::bufferize {

GpuLibraries::GpuLibraries(func::FuncOp step, ProgramBuilder &program)
    : program_(program), isForGpus_(program::isForGpus(step)),
      usesTf32_(isForGpus_ && graph::f32Products(step) == "tf32") {}

Value GpuLibraries::newWorkspace(int64_t bytes) {
  if (!isForGpus_ || bytes == 0)
    return {};
  return program_.addBuffer("workspace", program::Role::Workspace, program_.builder().getI8Type(),
                            {bytes});
}

UnitAttr GpuLibraries::tf32For(const View &factor) {
  const bool isF32 = ProgramBuilder::elementOf(factor.buffer).isF32();
  return usesTf32_ && isF32 ? program_.builder().getUnitAttr() : UnitAttr();
}

} // namespace cleave::bufferize
