// Ensemble: what a step computes in double precision, and how far rounding may lead away from it.
//
// The interpreter runs the step several times. The first run is the reference. In the others every result of an op on
// floats is moved by a random part of the error that a kernel of its type may make; before an op that jumps (a comparison,
// a rounding, a cast to integers, a sort) its operands are moved apart by what the runs before differed by there, once in
// either direction. How the runs differ at the end is the error that a right program may have, element by element, however
// badly conditioned a random program is.
#pragma once

#include "compiler/interpret/Interpret.h"

namespace cleave::fuzz {

// The same tensor out of every run, the reference first.
using Ensemble = std::vector<Tensor>;

// Results of `step` (see interpretStep) in every run. `persistent[i]` is an ensemble, too: of what a step before left
// behind; one tensor stands for all runs. `seed` chooses the errors.
Result<std::vector<Ensemble>> interpretEnsemble(mlir::func::FuncOp step,
                                                llvm::ArrayRef<Ensemble> persistent,
                                                llvm::ArrayRef<std::vector<Tensor>> microBatches,
                                                uint64_t seed);

struct Comparison {
  int64_t compared = 0, undecided = 0; // elements; those that rounding may change arbitrarily
  int64_t wrong = 0;
  std::string first; // of the wrong ones: index, found, expected, tolerance
};

// Whether `found` may be what the ensemble's step computes.
Comparison compare(const Ensemble &expected, const Tensor &found);

} // namespace cleave::fuzz
