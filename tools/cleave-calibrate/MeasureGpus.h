// Runs a measurement on GPUs of this machine, one process each.
#pragma once

#include "compiler/cluster/MeasureDevice.h"

#include <functional>

namespace cleave::calibrate {

// Calls `measure` on `gpus` ranks, one per GPU; `isFirst` is true on one of them. A user error if
// there is no driver or there are fewer GPUs; the first failure of a rank.
Status measureGpus(int gpus,
                   const std::function<Status(cluster::DeviceTimes &times, bool isFirst)> &measure);

} // namespace cleave::calibrate
