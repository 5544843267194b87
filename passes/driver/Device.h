// Device: the kind of device that a plan is for, and its kernels compiled for it.
#pragma once

#include "passes/driver/Compile.h"

namespace cleave::driver {

// A device as `--device` names it: `cpu`, `cuda` or `cuda:sm_90`.
struct DeviceOption {
  std::string kind;   // kCpu or kCuda of runtime/artifact/Modules.h
  std::string target; // of GPUs; empty: that of the cluster
};
Result<DeviceOption> parseDevice(const std::string &text);

// Whether the plan will be for GPUs. Does not measure this machine.
Result<bool> wantsGpus(Compilation &c);

// Marks the module as one for GPUs, or removes the mark (program::kDevice), which the grouping of
// kernels reads as well as bufferization.
void markDevice(mlir::ModuleOp module, bool isForGpus);

// Notes the device of --device, else that of the cluster, at the module, where bufferization finds
// it. A module of the phase `program` keeps its own; another one in --device is the user's mistake.
Status setDevice(Compilation &c);

// The kernels of the module, compiled for its device; none if it has no kernels. Kernels get their
// extents or grids.
Result<std::vector<plan::Module>> compileModules(Compilation &c);

} // namespace cleave::driver
