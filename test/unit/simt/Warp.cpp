// Matrices are written out in full: each lane's registers to their places, plain loops, and back.
#include "Warp.h"

#include "CheckedMemory.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

#include <array>
#include <cmath>

namespace cleave::test {

const char *togetherWith(const llvm::Instruction &op) {
  auto *call = llvm::dyn_cast<llvm::CallInst>(&op);
  switch (call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic) {
  case llvm::Intrinsic::nvvm_shfl_sync_bfly_i32:
    return "a shuffle";
  case llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16:
  case llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16:
    return "a load of matrices";
  case llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16:
  case llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32:
    return "a product of matrices";
  default:
    return nullptr;
  }
}

Lanes shuffle(const std::vector<uint64_t> &words, const std::vector<uint64_t> &masks) {
  Lanes result;
  for (size_t lane = 0; lane < words.size(); ++lane) {
    const uint64_t from = lane ^ masks[lane];
    if (from >= words.size())
      throw Fault("a shuffle reads a lane that the warp does not have");
    result.push_back({words[from]});
  }
  return result;
}

Lanes loadMatrices(const std::vector<std::array<uint16_t, 8>> &rows, bool isTransposed) {
  Lanes result(kWarp, Scalars(4));
  for (int lane = 0; lane < kWarp; ++lane)
    for (int matrix = 0; matrix < 4; ++matrix)
      for (int half = 0; half < 2; ++half) {
        int row = lane / 4, column = lane % 4 * 2 + half;
        if (isTransposed)
          std::swap(row, column);
        result[lane][matrix] |= uint64_t(rows[8 * matrix + row][column]) << (16 * half);
      }
  return result;
}

namespace {

// The element of 16 bits in half `half` of a lane's register `number`, which is a word or a vector
// of two elements.
double elementOf(const Lanes &lane, const llvm::CallInst &call, int number, int half) {
  llvm::Type *type = call.getArgOperand(number)->getType();
  if (type->isVectorTy())
    return toDouble(type->getScalarType(), lane[number][half]);
  return toDouble(llvm::Type::getBFloatTy(call.getContext()),
                  lane[number][0] >> (16 * half) & 0xffff);
}

} // namespace

Lanes multiplyMatrices(const llvm::CallInst &call, const std::vector<Lanes> &arguments) {
  double a[16][16], b[16][8];
  for (int lane = 0; lane < kWarp; ++lane)
    for (int half = 0; half < 2; ++half) {
      const int group = lane / 4, inGroup = lane % 4 * 2 + half;
      for (int i = 0; i < 4; ++i) // registers 0 … 3: rows +0 and +8, then the same 8 columns on
        a[group + i % 2 * 8][inGroup + i / 2 * 8] = elementOf(arguments[lane], call, i, half);
      for (int i = 0; i < 2; ++i)
        b[inGroup + i * 8][group] = elementOf(arguments[lane], call, 4 + i, half);
    }
  llvm::Type *f32 = llvm::Type::getFloatTy(call.getContext());
  Lanes result(kWarp);
  for (int lane = 0; lane < kWarp; ++lane)
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      auto sum = static_cast<float>(toDouble(f32, arguments[lane][6 + i][0]));
      for (int k = 0; k < 16; ++k)
        sum = std::fma(static_cast<float>(a[row][k]), static_cast<float>(b[k][column]), sum);
      result[lane].push_back(fromDouble(f32, sum));
    }
  return result;
}

} // namespace cleave::test
