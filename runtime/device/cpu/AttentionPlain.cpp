// The kernels of attention for any processor. See AttentionKernels.h.
#include "runtime/base/AttentionScratch.h"
#include "runtime/base/CounterRandom.h"
#include "runtime/base/Float16.h"
#include "runtime/device/cpu/AttentionTask.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#define CLEAVE_VECTOR_BYTES 16
#include "runtime/device/cpu/AttentionKernels.h"

namespace cleave::device {
const AttentionKernels kPlainAttention = CLEAVE_ATTENTION_KERNELS("plain");
} // namespace cleave::device
