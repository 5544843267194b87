// DnnSupport: the answers of cuDNN of this machine to the attention and the convolutions of plans
// for an H100, asked through the runtime's own code (DevicelessDnn.h).
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "test/unit/runtime_device_cuda/DevicelessDnn.h"

#include <string>
#include <vector>

namespace cleave::test {

// The answer to one instruction; those that differ only in their buffers have one answer.
struct DnnSupport {
  std::string kind, name;     // `attention gradient`; of the instruction
  std::string refusal;        // empty: it runs
  DnnPlan plan;               // if it runs
  uint64_t reservedBytes = 0; // of the instruction's workspace
  uint64_t usedBytes = 0;     // of it, with what the runtime keeps in it
};

// Asks for the instructions of the first rank. A user error if this machine has no cuDNN
// that can be asked.
Result<std::vector<DnnSupport>> dnnSupport(const plan::Plan &plan);

} // namespace cleave::test
