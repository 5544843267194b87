// See CudaModule.h.
#include "runtime/device/cuda/CudaModule.h"

#include "runtime/artifact/KernelSignature.h"
#include "runtime/artifact/Modules.h"

namespace cleave::device {
namespace {

class LaunchAction : public Action {
public:
  LaunchAction(const CudaContext &context, driver::Function function, const plan::Grid &grid,
               std::vector<void *> buffers)
      : context_(context), function_(function), stream_(context.stream()), blocks_(grid.blocks()),
        threads_(grid.threads()), buffers_(std::move(buffers)) {
    for (void *&buffer : buffers_)
      parameters_.push_back(&buffer);
  }
  Status run() override {
    return context_.status(context_.driver().launchKernel(function_, blocks_, 1, 1, threads_, 1, 1,
                                                          /*sharedBytes=*/0, stream_,
                                                          parameters_.data(), nullptr),
                           "launching the kernel");
  }

private:
  const CudaContext &context_;
  driver::Function function_;
  driver::Stream stream_;
  unsigned blocks_, threads_;
  std::vector<void *> buffers_;
  // Addresses of the elements of buffers_. If the kernel's only parameter is the array of all
  // buffers, the driver copies all of it from the first address.
  std::vector<void *> parameters_;
};

std::string firstLine(const std::string &log) {
  std::string line = log.substr(0, log.find('\0'));
  return line.substr(0, line.find('\n'));
}

} // namespace

CudaModule::~CudaModule() {
  if (module_)
    context_.driver().moduleUnload(module_);
}

Status CudaModule::load(const plan::Plan &plan) {
  if (plan.device() != artifact::kCuda)
    return Status::userError("the plan is for ", plan.device(), " (", artifact::targetsText(plan),
                             "), this device is a GPU; run it with --device ", plan.device(),
                             ", or compile the model with --device cuda:sm_",
                             context_.capability());
  const plan::Module *best = nullptr;
  for (const plan::Module &module : plan.modules()) {
    int capability = artifact::computeCapabilityOf(module.target());
    if (capability == 0 || capability > context_.capability())
      continue;
    if (!best || capability > artifact::computeCapabilityOf(best->target()))
      best = &module;
  }
  if (best)
    return loadPtx(*best);
  return plan.modules().empty()
             ? Status::ok()
             : Status::userError(
                   "the plan has kernels for ", artifact::targetsText(plan), ", this machine's ",
                   context_.model(), " needs sm_", context_.capability(),
                   " or lower; compile the model with --device cuda:sm_", context_.capability());
}

// The driver compiles the text for the GPU.
Status CudaModule::loadPtx(const plan::Module &module) {
  constexpr size_t kLogBytes = 8192;
  std::string log(kLogBytes, '\0');
  int options[] = {driver::kJitErrorLogBuffer, driver::kJitErrorLogBufferBytes};
  void *values[] = {log.data(), reinterpret_cast<void *>(kLogBytes)};
  const std::string &ptx = module.code(); // ends with a zero, as the driver requires
  int error = context_.driver().moduleLoadDataEx(&module_, ptx.c_str(), 2, options, values);
  if (error == driver::kErrorUnsupportedPtxVersion)
    return Status::userError("the driver is too old for the plan's kernels (",
                             driver::errorText(context_.driver(), error), ": ", firstLine(log),
                             "); update the driver");
  return context_.status(error, concat("loading the kernels for ", module.target(),
                                       error ? ": " : "", error ? firstLine(log) : ""));
}

PreparedAction CudaModule::launch(const plan::Kernel &kernel, std::vector<void *> buffers) {
  std::string entry = artifact::entryOf(kernel);
  if (!module_)
    return Status::userError("the plan has no kernel '", kernel.symbol(), "'");
  if (!kernel.has_grid())
    return Status::userError("kernel '", kernel.symbol(), "' has no grid, expected one on a GPU");
  if (kernel.grid().blocks() == 0)
    return PreparedAction(std::make_unique<NoAction>());
  driver::Function function = nullptr;
  int error = context_.driver().moduleGetFunction(&function, module_, entry.c_str());
  if (error == driver::kErrorNotFound)
    return Status::userError("the plan's kernels have no entry '", entry,
                             "'; its table of kernels does not belong to them");
  CLEAVE_TRY(context_.status(error, concat("looking for kernel '", entry, "'")));
  return PreparedAction(
      std::make_unique<LaunchAction>(context_, function, kernel.grid(), std::move(buffers)));
}

} // namespace cleave::device
