// Random first values of tensors (TensorSource.random). Every element is a function of the run's
// seed, the tensor's name and the element's position in the whole tensor. Ranks therefore need no
// communication, and the values are the same under every plan.
#pragma once

#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

namespace cleave::executor {

// Writes the block of `tensor`, whose source is random, dense and row-major; does not write its
// padding. A user error if the dtype is not a float.
Status drawBlock(const plan::Tensor &tensor, uint64_t seed, const artifact::RankBlock &block,
                 void *destination);

} // namespace cleave::executor
