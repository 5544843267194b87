// CudaModule: the generated kernels of a plan, loaded into a GPU's context. Private to this folder.
#pragma once

#include "runtime/device/cuda/CudaContext.h"

#include <map>

namespace cleave::device {

class CudaModule {
public:
  explicit CudaModule(CudaContext &context) : context_(context) {}
  ~CudaModule();
  CudaModule(const CudaModule &) = delete;
  CudaModule &operator=(const CudaModule &) = delete;

  // Loads the plan's module that suits the GPU best: of those for its compute capability or a lower
  // one, the highest. A user error if the plan is for another kind of device, if there is no such
  // module, or if the driver refuses it, with the driver's log.
  Status load(const plan::Plan &plan);
  // Prepares a launch with the kernel's grid.
  PreparedAction launch(const plan::Kernel &kernel, std::vector<void *> buffers);

private:
  Status loadPtx(const plan::Module &module);

  CudaContext &context_;
  driver::Module module_ = nullptr;
};

} // namespace cleave::device
