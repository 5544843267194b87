// WaysOut: what would make a step fit that does not, computed by planning it.
#pragma once

#include "passes/driver/Variants.h"

namespace cleave::driver {

// The end of a message for options under which no plan fits: a table of other options, each with
// the most seconds of a step and the bytes of a rank, from quick plans (QuickPlan.h), at most a
// dozen: more micro-batches, host memory, no mesh and no pins, then more memory, then up to eight
// times the ranks. Then the changes that did not help. Empty if memory is not the reason.
std::string waysOut(Variants &variants, const CompileOptions &options);

// The options with another number of micro-batches, and how the user would type the change.
// Nothing if no size of --set is that of the batch.
struct OtherCount {
  CompileOptions options;
  std::string change; // `--micro-batch 4`, `--set batch=16 --accumulate 4`
};
std::vector<OtherCount> otherCounts(const CompileOptions &options);

} // namespace cleave::driver
