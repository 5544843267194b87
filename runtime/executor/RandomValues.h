// First values that are drawn: TensorSource.random. Every element is a function of the run's seed,
// the tensor's name and the element's position in the whole tensor, so that ranks draw their blocks
// without asking each other, and a model begins the same under every plan.
#pragma once

#include "runtime/artifact/Mesh.h"
#include "runtime/artifact/program.pb.h"
#include "runtime/base/Status.h"

namespace cleave::executor {

// Writes the block of `tensor`, dense and row-major; its padding is left as it is. The tensor's
// source is random. Fails if its dtype holds no such values.
Status drawBlock(const plan::Tensor &tensor, uint64_t seed, const artifact::Block &block,
                 void *destination);

} // namespace cleave::executor
