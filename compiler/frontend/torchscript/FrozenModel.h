// FrozenModel: finds the parameters of a frozen model (torch.jit.freeze), which the archive has as
// constants without names.
#pragma once

#include "compiler/frontend/torchscript/TensorTable.h"

namespace cleave::torchscript {

// Parameters by their index in the table.
struct FrozenParameters {
  std::vector<size_t> all;
  // Those with all elements equal. Freezing merges equal tensors, so that fresh norms would share
  // one: each use has its own parameter.
  std::set<size_t> equalEverywhere;
  // Those that hold an earlier one transposed (freezing computes w.t() once) -> that one.
  std::map<size_t, size_t> transposedOf;
};

// Finds the parameters among `constants` (indices in `table`) and turns them into parameters of the
// table. `statistics` are the names of running statistics, which are not trained.
FrozenParameters findFrozenParameters(const torch::Archive &archive, TensorTable &table,
                                      const std::vector<size_t> &constants,
                                      const std::set<std::string> &statistics);

} // namespace cleave::torchscript
