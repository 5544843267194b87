// Grouped products of any sizes, compared with the ops' evaluation.
#pragma once

#include "test/unit/codegen/KernelHarness.h"

#include <string>
#include <vector>

namespace cleave::test {

// A grouped product.
struct GroupedForm {
  int rows, inputs, outputs;
  std::vector<double> ends;
  std::string type = "f32", result = ""; // element types; an empty `result` means `type`
  int groups = 0;                        // of the kernel, if these are only some of all
  double firstRow = 0, firstGroup = 0;   // of the kernel, which is then one rank's
  std::vector<int> transposed = {};      // x, weights or gradient, ends, result last
};

// The grouped product, or the gradient of its weights.
KernelCase caseOf(const GroupedForm &form, bool isGradient);
// Compares both. Sums are in f32, and then rounded to the type of the result.
void checkGrouped(const GroupedForm &form);

} // namespace cleave::test
