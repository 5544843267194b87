// The kernels of attention for processors with AVX2 and FMA. See AttentionKernels.h.
#include "runtime/base/AttentionScratch.h"
#include "runtime/base/CounterRandom.h"
#include "runtime/device/cpu/AttentionTask.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#ifdef __x86_64__
#pragma GCC target("avx2,fma")
#define CLEAVE_VECTOR_BYTES 32
#include "runtime/device/cpu/AttentionKernels.h"

namespace cleave::device {
const AttentionKernels kAvx2Attention = {"avx2", forward, backward};
} // namespace cleave::device
#endif
