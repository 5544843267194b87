// The kinds of devices, and the modules of a plan that hold its kernels (Module in program.proto).
#pragma once

#include "runtime/artifact/program.pb.h"

#include <string>

namespace cleave::artifact {

// Plan.device.
constexpr const char *kCpu = "cpu"; // also the target of its module
constexpr const char *kCuda = "cuda";

// The compute capability of a target: 90 for `sm_90`; 0 if it is none of a GPU.
int computeCapabilityOf(const std::string &target);

// The first module for CPUs; null if there is none.
const plan::Module *cpuModuleOf(const plan::Plan &plan);

// The targets of all modules: `sm_80, sm_90`; `no kernels` without modules.
std::string targetsText(const plan::Plan &plan);

} // namespace cleave::artifact
