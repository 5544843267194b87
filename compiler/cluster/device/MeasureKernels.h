// The kernels by which a GPU is measured, as PTX, and their entries in a plan's table of kernels.
#pragma once

#include "runtime/artifact/program.pb.h"

namespace cleave::cluster {

// A plan for GPUs that holds the kernels and nothing else, for Device::loadKernels().
plan::Plan measureKernels();

// Adds two arrays and writes a third one; they have `elements` f32 each, a multiple of 1024.
plan::Kernel additionKernel(int64_t elements);
// Multiplies and adds kFmasPerElement times per element of one array of f32; `elements` is a
// multiple of 256.
plan::Kernel arithmeticKernel(int64_t elements);
constexpr int64_t kFmasPerElement = 4096;
// Does nothing.
plan::Kernel emptyKernel();

} // namespace cleave::cluster
