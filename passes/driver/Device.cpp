// See Device.h.
#include "passes/driver/Device.h"

#include "compiler/cluster/Presets.h"
#include "dialects/program/Program.h"
#include "passes/codegen/cpu/CpuCodegen.h"
#include "passes/codegen/gpu/GpuCodegen.h"
#include "passes/codegen/gpu/Ptx.h"
#include "passes/driver/Variants.h"
#include "runtime/artifact/Modules.h"
#include "runtime/base/FileWriter.h"
#include "runtime/base/Nearest.h"

using namespace mlir;

namespace cleave::driver {

Result<DeviceOption> parseDevice(const std::string &text) {
  const size_t colon = text.find(':');
  DeviceOption option{text.substr(0, colon), ""};
  const bool isCuda = option.kind == artifact::kCuda;
  if (colon != std::string::npos)
    option.target = text.substr(colon + 1);
  if ((!isCuda && option.kind != artifact::kCpu) || (!isCuda && colon != std::string::npos))
    return Status::userError("unknown device '", text, "'",
                             suggestion(text, {artifact::kCpu, artifact::kCuda}, "cuda:sm_90"));
  if (colon != std::string::npos)
    CLEAVE_TRY(codegen::gpuTargetFor(option.target).status());
  return option;
}

Result<bool> wantsGpus(Compilation &c) {
  if (!c.options.device.empty()) {
    CLEAVE_TRY_ASSIGN(DeviceOption option, parseDevice(c.options.device).withContext("--device"));
    return option.kind == artifact::kCuda;
  }
  if (c.options.cluster == cluster::kLocalCpu)
    return false;
  CLEAVE_TRY(loadCluster(c));
  return !c.cluster->isCpu;
}

void markDevice(ModuleOp module, bool isForGpus) {
  if (isForGpus)
    module->setAttr(program::kDevice, StringAttr::get(module.getContext(), artifact::kCuda));
  else
    module->removeAttr(program::kDevice);
}

Status setDevice(Compilation &c) {
  const bool wasForGpus = program::isForGpus(c.module());
  const bool isLowered = !c.module().getOps<program::ProgramOp>().empty();
  std::string kind = c.cluster->isCpu ? artifact::kCpu : artifact::kCuda;
  if (!c.options.device.empty()) {
    CLEAVE_TRY_ASSIGN(DeviceOption option, parseDevice(c.options.device).withContext("--device"));
    kind = option.kind;
    if (isLowered && wasForGpus != (kind == artifact::kCuda))
      return Status::userError("--device: found ", kind, ", but the program in '", c.options.model,
                               "' is for ", wasForGpus ? artifact::kCuda : artifact::kCpu,
                               "; start from an earlier phase");
  }
  if (isLowered)
    return Status::ok();
  for (Unit &unit : c.units)
    markDevice(*unit.module, kind == artifact::kCuda);
  return Status::ok();
}

// The target of --device, else that of the cluster.
static Result<codegen::GpuTarget> gpuTarget(const Compilation &c) {
  DeviceOption option;
  if (!c.options.device.empty()) {
    CLEAVE_TRY_ASSIGN(option, parseDevice(c.options.device).withContext("--device"));
  }
  if (!option.target.empty())
    return codegen::gpuTargetFor(option.target);
  if (c.cluster->target.empty())
    return Status::userError("--cluster: '", c.cluster->name,
                             "' names no target, for which kernels could be generated. If it has "
                             "NVIDIA GPUs, add \"target\": \"sm_90\", say, to its file or give "
                             "--device cuda:sm_90; for others, --stop-after planned shows the plan "
                             "and --device cpu makes one that runs on CPUs");
  Result<codegen::GpuTarget> target = codegen::gpuTargetFor(c.cluster->target);
  if (!target)
    return Status::userError("--cluster: '", c.cluster->name, "': ", target.status().message(),
                             "; --device cpu makes a plan that runs on CPUs");
  return target;
}

static Result<plan::Module> compileForCpus(Compilation &c, ArrayRef<program::KernelOp> kernels) {
  codegen::CpuOptions options;
  options.checked = c.options.checkKernels;
  if (c.options.output != "-")
    options.reproducer = c.options.output;
  if (!c.options.dumpPhases.empty())
    options.dumpTo = c.options.dumpPhases + "/kernels";
  CLEAVE_TRY_ASSIGN(codegen::CpuLibrary library, codegen::compileKernels(kernels, options));
  plan::Module module;
  module.set_target(artifact::kCpu);
  module.set_code(std::move(library.bytes));
  module.set_machine(library.target);
  return module;
}

static Result<plan::Module> compileForGpus(Compilation &c, ArrayRef<program::KernelOp> kernels) {
  if (c.options.checkKernels)
    return Status::userError("CLEAVE_CHECK_KERNELS: kernels that check their accesses exist for "
                             "CPUs only; leave it out, or give --device cpu");
  CLEAVE_TRY_ASSIGN(codegen::GpuTarget target, gpuTarget(c));
  CLEAVE_TRY_ASSIGN(codegen::GpuModule code, codegen::compileForGpu(kernels, target.name));
  if (!c.options.dumpPhases.empty())
    CLEAVE_TRY(writeFile(c.options.dumpPhases + "/kernels.ptx", code.ptx));
  plan::Module module;
  module.set_target(target.name);
  module.set_code(std::move(code.ptx));
  return module;
}

Result<std::vector<plan::Module>> compileModules(Compilation &c) {
  SmallVector<program::KernelOp> kernels(c.module().getOps<program::KernelOp>());
  std::vector<plan::Module> modules;
  if (kernels.empty())
    return modules;
  CLEAVE_TRY_ASSIGN(plan::Module module, program::isForGpus(c.module())
                                             ? compileForGpus(c, kernels)
                                             : compileForCpus(c, kernels));
  modules.push_back(std::move(module));
  return modules;
}

} // namespace cleave::driver
