// WaysOut: what would make a step fit that does not, computed by planning it.
#pragma once

#include "passes/driver/Variants.h"

namespace cleave::driver {

// The sentence part `; ways out: --ranks 16: 12.3 ms per step at most; …` for options under which
// no plan fits, from quick plans (QuickPlan.h) under other options, at most a dozen: more memory,
// no mesh, no pins, up to eight times the ranks, more micro-batches. If none of them fits, it says
// what was tried. Empty if memory is not the reason.
std::string waysOut(Variants &variants, const CompileOptions &options);

// The options with another number of micro-batches, and how the user would type the change.
// Nothing if no size of --set is that of the batch.
struct OtherCount {
  CompileOptions options;
  std::string change; // `--micro-batch 4`, `--set batch=16 --accumulate 4`
};
std::vector<OtherCount> otherCounts(const CompileOptions &options);

} // namespace cleave::driver
