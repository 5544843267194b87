// Turns instructions into actions: those of the device, and the executor's own, which communicate
// with other ranks, read input data and report results. Private to this folder.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/comm/Groups.h"
#include "runtime/data/DataSource.h"
#include "runtime/device/Device.h"
#include "runtime/executor/Executor.h"
#include "runtime/memory/Arenas.h"

#include <vector>

namespace cleave::executor {

// The position within the current step, read by the actions, and the values that they report.
struct StepState {
  int64_t step = 0;     // number of the step, which selects the data
  size_t scheduled = 0; // index of the current schedule step
  uint32_t slot = 0;    // index of the current micro-batch
  // The sum of a metric over the micro-batches of the step.
  struct Report {
    std::string name;
    double sum;
    int64_t count;
  };
  std::vector<Report> reports; // one per metric
  std::vector<StoredOutput> outputs;
};

// Everything that an instruction can refer to. All of it outlives the actions.
struct ExecutionContext {
  const plan::Plan &plan;
  const plan::Program &program;
  uint32_t rank;
  const memory::Arenas &arenas;
  device::Device &device;
  const comm::Groups &groups;
  const data::DataSource *data; // null if the plan has no inputs
  bool keepOutputs;             // ExecutorOptions::keepOutputs
  StepState &state;
};

// The action of one instruction. A user error if it needs data and there are none; otherwise the
// errors of the device.
device::PreparedAction prepare(const ExecutionContext &context,
                               const plan::Instruction &instruction);

// The address of a buffer (index into Program.buffers).
void *addressOf(const ExecutionContext &context, uint32_t buffer);

} // namespace cleave::executor
