// Origins (dialects/graph/Step.h) of tensors in an archive.
#pragma once

#include "compiler/frontend/torch/StridedTensor.h"
#include "dialects/graph/Step.h"

namespace cleave::torch {

// The origin of a tensor: a range of the archive's file, possibly of a transposed tensor. Tensors
// with gaps or repeated elements are read and become inline data up to 16 MiB. Fails where the
// entry is missing, compressed, or does not have the size of the storage.
graph::TensorOrigin originOf(const Archive &archive, const StridedTensor &tensor,
                             const std::string &name);

} // namespace cleave::torch
