// EventTimes: the times of a step's instructions where the host does not see when they run: on
// GPUs, and in several queues. Events recorded before and after each run of an instruction measure
// them. Private to this folder.
#pragma once

#include "runtime/executor/ExecutionProfile.h"
#include "runtime/executor/Instructions.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace cleave::executor {

class EventTimes {
public:
  // The context's references and `profile` must outlive this object.
  EventTimes(const ExecutionContext &context, ExecutionProfile &profile)
      : context_(context), profile_(profile) {}

  // Creates the events.
  Status prepare();

  // The actions to be run before and after each run of an instruction.
  device::PreparedAction beginOf(uint32_t segment, uint32_t index) const;
  device::PreparedAction endOf(uint32_t segment, uint32_t index) const;

  // To be called when a step starts.
  Status beginStep();
  // Adds the times of a step to the profile. To be called when the device has completed it.
  Status note();

private:
  // The events of the instructions of one run of a segment.
  struct Run {
    std::vector<device::Event> begin, end;
  };
  class RecordOfRun;

  device::PreparedAction recordOf(uint32_t segment, uint32_t index,
                                  std::vector<device::Event> Run::*which) const;

  ExecutionContext context_;
  ExecutionProfile &profile_;
  std::vector<Run> runs_; // by schedule step
  device::Event stepBegin_ = 0;
  std::unique_ptr<device::Action> recordBegin_; // of the step
  double hostBegin_ = 0;                        // when it was run: seconds of now()
};

} // namespace cleave::executor
