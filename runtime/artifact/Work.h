// Work: FLOPs and bytes of an instruction, for predictions (compiler), measured rates (runtime) and
// tables.
// Indices and shapes are not checked: the plan is verified or being built.
#pragma once

#include "runtime/artifact/program.pb.h"
#include "runtime/base/KernelWork.h"

#include <string>

namespace cleave::artifact {

// FLOPs of one run of a matmul, a convolution (a multiply-add counts as 2), an attention or a
// kernel (Kernel.flops); 0 for other instructions.
double flopsOf(const plan::Program &program, const plan::Instruction &instruction);

// The work of one run of an instruction that computes. For a launch, FLOPs and bytes only: the op
// of its kernel states the rest.
KernelWork workOf(const plan::Program &program, const plan::Instruction &instruction);

// The FLOPs of an attention on the rank that computes the most, which flopsOf() counts, relative to
// the mean of all ranks.
double slowestShare(const plan::Attention &attention);

// Bytes that one run reads and writes, each operand and result once. The operands of a matmul or an
// attention may be parts of their buffers, and repeated elements count once. For a collective,
// sentBytes(). 0 for loads of inputs, stores of outputs and metrics.
double bytesOf(const plan::Plan &plan, const plan::Program &program,
               const plan::Instruction &instruction);

// Bytes that a rank sends in a collective by the bandwidth-optimal algorithms, as shareSent() of
// runtime/base/Collective.h states them; 0 for the receiver of a message.
double sentBytes(const plan::Plan &plan, const plan::Program &program,
                 const plan::Collective &collective);

// Whether the factors of a matmul, a convolution or an attention have 16 bits or may be rounded to
// tf32, so that tensor cores multiply them.
bool hasShortFactors(const plan::Program &program, const plan::Instruction &instruction);

// The kind by which tables group instructions: the name of the kernel, or the library call with its
// sizes.
std::string workKind(const plan::Program &program, const plan::Instruction &instruction);

} // namespace cleave::artifact
