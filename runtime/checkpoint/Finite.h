// Whether values are finite numbers. Private to this folder.
#pragma once

#include "runtime/data/ArrayFile.h"

namespace cleave::checkpoint {

// False if an element is infinite or not a number; true for types other than floats.
bool areFinite(const data::ArrayView &array);

} // namespace cleave::checkpoint
