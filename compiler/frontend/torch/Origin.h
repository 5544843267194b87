// Where the runtime finds the elements of a tensor of an archive.
#pragma once

#include "compiler/frontend/torch/StridedTensor.h"
#include "dialects/graph/Step.h"

namespace cleave::torch {

// Where the runtime finds the elements: a range of the archive's file, possibly of a transposed
// tensor; windows with gaps or repetitions are read and become inline data up to 16 MiB. Fails where
// the entry is missing, compressed, or not of the storage's size.
graph::TensorOrigin originOf(const Archive &archive, const StridedTensor &tensor,
                             const std::string &name);

} // namespace cleave::torch
