// Warp: instructions that the 32 lanes of a warp execute together, by the layouts of the PTX ISA.
#pragma once

#include "Scalars.h"

#include <array>
#include <vector>

namespace cleave::test {

inline constexpr int kWarp = 32;

// What a lane waits for its warp with; null: nothing. For messages, such as `a shuffle`.
const char *togetherWith(const llvm::Instruction &op);

// One value per lane.
using Lanes = std::vector<Scalars>;

// The words of the lanes whose numbers differ by the lane's mask. Throws a Fault if there is none.
Lanes shuffle(const std::vector<uint64_t> &words, const std::vector<uint64_t> &masks);

// ldmatrix of four matrices of 8 x 8 elements of 16 bits: lane l has the address of row l%8 of
// matrix l/8, of which `rows` holds the elements. The result has a word of each matrix.
Lanes loadMatrices(const std::vector<std::array<uint16_t, 8>> &rows, bool isTransposed);

// mma of m16n8k16, row and column: the results per lane from its arguments. Sums are f32.
Lanes multiplyMatrices(const llvm::CallInst &call, const std::vector<Lanes> &arguments);

} // namespace cleave::test
