// A training step of any depth, for tests of what is kept from the forward to the backward pass.
#pragma once

#include <cstdint>
#include <string>

namespace cleave::test {

// The IR of a step with `layers` residual blocks x + exp(x w) on a batch x width input. The
// backward pass reads of every block its input and the exponential. Every weight is replaced by the
// sum of itself and its gradient.
std::string deepStep(int64_t layers, int64_t batch, int64_t width);

} // namespace cleave::test
