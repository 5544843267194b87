// MeasureAttention: the speed of the runtime's attention on a CPU.
#pragma once

#include "runtime/base/Status.h"

namespace cleave::cluster {

// FLOP/s of one thread over a causal attention in f32 and its gradient, as runtime/artifact/Work.h
// counts them, measured for about `seconds`. Returns errors of the CPU device.
Result<double> measureAttention(double seconds);

} // namespace cleave::cluster
