// backwardBegin: where the backward pass begins in the program of a training step, and what is
// before it.
#pragma once

#include "runtime/artifact/program.pb.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace cleave::dump {

// By position: whether the loss needs what the instruction writes. False everywhere without a loss.
std::vector<bool> neededByLoss(const plan::Program &program);

// The position of the first computation in the segment `micro` that the loss does not need, after
// the last product that it needs. Positions number the instructions of all segments. None without a
// loss or such a computation, and in the stages of a pipeline, whose segments are called `forward`
// and `backward`.
std::optional<size_t> backwardBegin(const plan::Program &program);

} // namespace cleave::dump
