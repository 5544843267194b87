// The arithmetic of reductions: combines several buffers element by element, in the given order.
#pragma once

#include "runtime/base/DType.h"
#include "runtime/comm/Communicator.h"

#include <vector>

namespace cleave::comm {

// destination[i] = sources[0][i] op sources[1][i] op …, from left to right. The destination may be
// one of the sources. 16-bit floats are reduced in f32 and rounded once; integers wrap around; Max
// and Min of a NaN are NaN; the Sum of bools is their `or`.
void reduceInOrder(DType dtype, Reduce op, const std::vector<const void *> &sources,
                   void *destination, int64_t count);

} // namespace cleave::comm
