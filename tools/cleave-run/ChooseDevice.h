// The device on which a rank runs: --device, or the kind of device that the plan is for.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"
#include "runtime/device/Device.h"
#include "runtime/launch/Launch.h"

#include <memory>
#include <string>

namespace cleave::run {

// Creates the device. `choice` is the value of --device: `auto` (the plan's kind), `cpu`, `cuda` (a
// GPU per rank of this machine, by local rank) or `cuda:N` (GPU N for all ranks of this machine).
// `threads` and the folder of values that are kept in files are those of a CPU. User errors: no
// driver, too few GPUs, another kind of device than the plan's. The same message on all ranks of a
// machine.
Result<std::unique_ptr<device::Device>> chooseDevice(const std::string &choice,
                                                     const plan::Plan &plan,
                                                     const launch::RankEnvironment &environment,
                                                     int threads, const std::string &fileFolder);

// Ok if `choice` has one of these forms.
Status checkDeviceChoice(const std::string &choice);

} // namespace cleave::run
