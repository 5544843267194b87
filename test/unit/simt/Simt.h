// Simt: interprets a kernel for GPUs, given as LLVM IR with NVVM's intrinsics, thread by thread.
//
// It is an oracle: simple, slow, and independent of the code generator. A thread runs until it
// reaches a barrier, its end, or an instruction of its warp (a shuffle, or one on matrices); this
// needs all threads of the warp at the same instruction, a barrier all threads of the block.
#pragma once

#include "CheckedMemory.h"

namespace llvm {
class Function;
}

namespace cleave::test {

// Runs `blocks` blocks of `threads` threads each. The kernel's arguments are pointers to `buffers`,
// or its only one is the array of these pointers, by value. Returns a description of the first
// fault, or nothing.
std::string runSimt(const llvm::Function &kernel, int64_t blocks, int threads,
                    std::vector<CheckedMemory> &buffers);

} // namespace cleave::test
