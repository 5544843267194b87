// From instructions to actions: those of the device, and the executor's own, which talk to other
// ranks, read the data and report results. Private to this folder.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/comm/Groups.h"
#include "runtime/data/DataSource.h"
#include "runtime/device/Device.h"
#include "runtime/executor/Executor.h"
#include "runtime/memory/Arenas.h"

#include <map>
#include <memory>
#include <vector>

namespace cleave::executor {

// What actions need to know about the step that runs, and what they report.
struct StepContext {
  int64_t step = 0;
  size_t scheduled = 0; // which of the schedule's steps
  uint32_t slot = 0;
  struct Report {
    std::string name;
    double sum;
    int64_t count;
  };
  std::vector<Report> reports; // one per metric
  std::vector<StoredOutput> outputs;
};

// Everything an instruction can refer to. All of it outlives the actions.
struct Surroundings {
  const plan::Plan &plan;
  const plan::Program &program;
  uint32_t rank;
  const memory::Arenas &arenas;
  device::Device &device;
  const comm::Groups &groups;
  const data::DataSource *data;
  bool keepOutputs;
  StepContext &context;
  std::vector<comm::Ticket> &tickets;           // by event
  std::vector<comm::Communicator *> &startedBy; // by event
};

// The action of one instruction.
device::PreparedAction prepare(const Surroundings &around, const plan::Instruction &instruction);

// Where a buffer lies.
void *addressOf(const Surroundings &around, uint32_t buffer);

} // namespace cleave::executor
