// Turns instructions into actions: those of the device, and the executor's own, which communicate
// with other ranks, read input data and report results. Private to this folder.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/comm/DeviceWorld.h"
#include "runtime/data/DataSource.h"
#include "runtime/device/Device.h"
#include "runtime/executor/Staging.h"
#include "runtime/executor/StepState.h"
#include "runtime/memory/Arenas.h"

#include <vector>

namespace cleave::executor {

// Everything that an instruction can refer to. All of it outlives the actions.
struct ExecutionContext {
  const plan::Plan &plan;
  const plan::Program &program;
  uint32_t rank;
  const memory::Arenas &arenas;
  device::Device &device;
  const comm::DeviceGroups &groups;
  bool canRecordCalls;          // DeviceWorld::canRecord()
  const data::DataSource *data; // null if the plan has no inputs
  bool keepOutputs;             // ExecutorOptions::keepOutputs
  bool waits;                   // ExecutorOptions::waits
  bool runsAhead;               // Executor::runsAhead()
  StepState &state;
  Staging *staging; // null if this process addresses the device's memory
};

// The action of one instruction of `segment`. A user error if it needs data and there are none;
// otherwise the errors of the device.
device::PreparedAction prepare(const ExecutionContext &context, uint32_t segment,
                               const plan::Instruction &instruction);

// The group of a collective in `queue`. Messages in queues of their own have channels of their own,
// so that the device does not make them wait for calls in other queues.
comm::GroupKey groupKeyOf(const plan::Plan &plan, uint32_t rank, const plan::Collective &collective,
                          uint32_t queue);

// The address of a buffer (index into Program.buffers).
void *addressOf(const ExecutionContext &context, uint32_t buffer);

} // namespace cleave::executor
