// DevicelessDnn: cuDNN of this machine, which plans for an H100 without one. Its heuristics and
// plans get the properties of that GPU instead of a handle, and a driver of ours (FakeDriver.c)
// accepts the kernels that it compiles. Plans have an engine and a workspace; nothing runs.
#pragma once

#include "runtime/device/cuda/DnnTable.h"

#include <cstdint>

namespace cleave::test {

// The table. A user error if this machine has no cuDNN, or one that is too old for this.
Result<const device::dnn::DnnTable *> devicelessDnn();

// The last plan that was finished.
struct DnnPlan {
  int64_t engine = -1; // the library's number
  int64_t workspaceBytes = 0;
  bool usesTensorCores = false;
};
DnnPlan lastDnnPlan();

} // namespace cleave::test
