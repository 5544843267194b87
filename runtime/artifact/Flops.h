// The FLOPs of an instruction, for predictions (compiler) and measured rates (runtime).
#pragma once

#include "runtime/artifact/program.pb.h"

namespace cleave::artifact {

// FLOPs of one run of a matmul, a convolution (a multiply-add counts as 2) or a kernel
// (Kernel.flops); 0 for other instructions. Indices and shapes are not checked: the plan is
// verified or being built.
double flopsOf(const plan::Program &program, const plan::Instruction &instruction);

// The elements of the columns of a convolution that a CPU's library lowers
// (runtime/base/ConvolutionLowering.h); 0 for others.
double columnsOf(const plan::Convolution &convolution);

} // namespace cleave::artifact
