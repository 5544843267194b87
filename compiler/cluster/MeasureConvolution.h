// MeasureConvolution: the speed of grouped convolutions without a kernel of their own.
#pragma once

#include <functional>

namespace cleave::cluster {

// Elements of columns per second of one thread, measured for about `seconds`; 0 if the library has
// no such convolution.
double measureColumns(double seconds);

// The least time of a call, in seconds of CPU time of this thread, over the calls that fit into
// `budget` seconds (at least two). Calls during which the clock did not advance, as happens on
// virtual machines, are ignored.
double leastSeconds(double budget, const std::function<void()> &call);

} // namespace cleave::cluster
