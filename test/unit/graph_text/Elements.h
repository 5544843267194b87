// Elements of tensors in memory, in the format of kernels and of the runtime.
#pragma once

#include "dialects/interfaces/Tensor.h"

namespace cleave::test {

// Writes `value`, rounded to the type, to `to`; reads an element from `from`.
void storeElement(ElementType type, char *to, double value);
double loadElement(ElementType type, const char *from);

} // namespace cleave::test
