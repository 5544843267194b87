// The kernels of attention for processors with AVX2 and FMA. See AttentionKernels.h.
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

#ifdef __x86_64__
#pragma GCC target("avx2,fma")
#define CLEAVE_VECTOR_BYTES 32
#include "runtime/device/cpu/AttentionKernels.h"

namespace cleave::device {
const AttentionKernels kAvx2Attention = CLEAVE_ATTENTION_KERNELS("avx2");
} // namespace cleave::device
#endif
