// Code for GPUs, run in the interpreter of GPU threads. All checks of memory apply: results are
// undefined before the kernel writes them.
#include "test/unit/codegen/KernelHarness.h"

#include "compiler/artifact/ExportKernel.h"
#include "passes/codegen/gpu/GpuCodegen.h"
#include "test/unit/simt/Simt.h"

#include "llvm/IR/Module.h"

#include <algorithm>
#include <cstdio>

namespace cleave::test {

namespace {

class GpuCode : public KernelCode {
public:
  GpuCode(codegen::GpuIr ir, program::KernelOp kernel)
      : ir_(std::move(ir)), kernel_(artifact::exportKernel(kernel)), isRead_(kernel.getBuffers()) {
    for (unsigned i = 0; i < kernel.getOperands().size(); ++i)
      for (int64_t instance = 0; instance < kernel.instanceCount(); ++instance)
        isRead_[instance * kernel.instanceBuffers() + kernel.getOperandView(i).getBuffer()] = true;
  }

  // The parallel range is one launch.
  int64_t extent() const override { return 1; }

  std::string run(void *const *buffers, int64_t begin, int64_t end) const override {
    if (begin == end)
      return "";
    std::vector<CheckedMemory> memory;
    for (int i = 0; i < kernel_.parameters_size(); ++i) {
      const char *first = static_cast<const char *>(buffers[i]);
      memory.emplace_back("buffer " + std::to_string(i),
                          std::vector<char>(first, first + kernel_.parameters(i).bytes()),
                          isRead_[i]);
    }
    const codegen::GpuFunction &function = ir_.functions.front();
    std::string fault = runSimt(*ir_.llvm.module->getFunction(function.symbol),
                                function.launch.blocks, function.launch.threads, memory);
    for (int i = 0; i < kernel_.parameters_size(); ++i)
      std::ranges::copy(memory[i].bytes(), static_cast<char *>(buffers[i]));
    return fault;
  }

private:
  codegen::GpuIr ir_;
  plan::Kernel kernel_;
  std::vector<bool> isRead_; // per buffer
};

} // namespace

const bool kHasDoubleFunctions = false;

std::unique_ptr<KernelCode> compileCode(program::KernelOp kernel) {
  Result<codegen::GpuIr> ir = codegen::lowerForGpu({kernel}, "sm_90");
  if (!ir) {
    std::fprintf(stderr, "%s\n", ir.status().message().c_str());
    return nullptr;
  }
  return std::make_unique<GpuCode>(std::move(*ir), kernel);
}

} // namespace cleave::test
