// The arithmetic of reductions: several buffers, element by element, in the order in which they are
// given.
#pragma once

#include "runtime/base/DType.h"
#include "runtime/comm/Communicator.h"

#include <vector>

namespace cleave::comm {

// destination[i] = sources[0][i] op sources[1][i] op …, from left to right. The destination may be
// one of the sources. 16-bit floats are reduced in f32 and rounded once; integers wrap; Max and Min
// of a NaN are NaN; the Sum of bools is `or`.
void reduceInOrder(DType dtype, Reduce op, const std::vector<const void *> &sources,
                   void *destination, int64_t count);

} // namespace cleave::comm
