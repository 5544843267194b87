// backwardBegin: where the backward pass begins in the program of a training step.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <cstddef>
#include <optional>

namespace cleave::dump {

// The position of the first computation in the segment `micro` that the loss does not need, after
// the last product that it needs. Positions number the instructions of all segments. None without a
// loss or such a computation, and in the stages of a pipeline, whose segments are called `forward`
// and `backward`.
std::optional<size_t> backwardBegin(const plan::Program &program);

} // namespace cleave::dump
