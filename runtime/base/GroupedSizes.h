// The sizes of a grouped product, or of the gradient of its weights.
#pragma once

#include <cstdint>

namespace cleave {

struct GroupedSizes {
  int64_t rows = 0, inputs = 0, outputs = 0;
  int64_t groups = 0, wholeGroups = 0; // with matrices here, and in all
  bool isWeightGradient = false;
};

} // namespace cleave
