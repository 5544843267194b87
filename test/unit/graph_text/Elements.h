// Elements of tensors in memory, as kernels and the runtime read and write them.
#pragma once

#include "dialects/interfaces/Tensor.h"

namespace cleave::test {

// Writes `value`, rounded to the type, at `to`.
void storeElement(ElementType type, char *to, double value);
double loadElement(ElementType type, const char *from);

} // namespace cleave::test
