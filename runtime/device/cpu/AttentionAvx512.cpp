// The kernels of attention for processors with AVX-512. See AttentionKernels.h.
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
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")
#define CLEAVE_VECTOR_BYTES 64
#include "runtime/device/cpu/AttentionKernels.h"

namespace cleave::device {
const AttentionKernels kAvx512Attention = CLEAVE_ATTENTION_KERNELS("avx512");
} // namespace cleave::device
#endif
