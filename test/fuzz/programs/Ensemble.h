// Ensemble: the results of a step in double precision, and their possible rounding errors.
//
// The interpreter runs the step several times. The first run is the reference. In the other runs,
// every result of an op on floats is changed by a random part of the error that a kernel of its
// dtype may make. Two more runs shift the operands of discontinuous ops (comparisons, rounding,
// casts to integers, sorts) by the differences between the earlier runs at this op, one run in each
// direction. The differences between the final results are the errors that a correct program may
// have, element by element, also if the random program is ill-conditioned.
#pragma once

#include "compiler/interpret/Interpret.h"

namespace cleave::fuzz {

// One tensor from every run, the reference first.
using Ensemble = std::vector<Tensor>;

// The results of `step` (see interpret::runStep) in every run. `persistent[i]` is the ensemble of a
// persistent value after the previous step; a single tensor stands for all runs. `seed` selects the
// errors.
Result<std::vector<Ensemble>> interpretEnsemble(mlir::func::FuncOp step,
                                                llvm::ArrayRef<Ensemble> persistent,
                                                llvm::ArrayRef<std::vector<Tensor>> microBatches,
                                                uint64_t seed);

struct Comparison {
  // Numbers of elements; rounding may change undecided ones arbitrarily.
  int64_t compared = 0, undecided = 0;
  int64_t wrong = 0;
  std::string first; // the first wrong element: index, found, expected, tolerance
};

// Compares `found` with the results and tolerances of the ensemble.
Comparison compare(const Ensemble &expected, const Tensor &found);

} // namespace cleave::fuzz
