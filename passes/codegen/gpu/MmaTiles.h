// MmaTiles: products of tiles by matrix instructions (mma.sync m16n8k16) of four warps, on 16-bit
// floats, with sums in f32.
//
// Warp w has the rows [16 w, 16 w + 16) of a tile; the instruction's layout gives lane l the rows
// l/4 + 8 i of them and the columns 8 (j/2) + 2 (l%4) + j%2, so four neighbouring lanes share their
// rows. A thread's sums, rounded to 16 bits, are at the same time its part of the left factor of a
// next product (Dao, FlashAttention-2, 2023), so weights never go through shared memory.
#pragma once

#include "passes/codegen/gpu/GpuTiles.h"

namespace cleave::codegen {

class MmaTiles : public GpuTiles {
public:
  MmaTiles(GpuKernel &kernel, int64_t blocks, mlir::Type element, int64_t columns, int side);

  int rowCount() const override { return 2; }
  int columnCount(int64_t columns) const override {
    return static_cast<int>(paddedWidth(columns) / kLanesPerRow);
  }
  mlir::Value row(int i) override { return k_.add(row_, k_.constant(8 * i)); }
  mlir::Value column(int j) override {
    return k_.add(k_.mul(lane_, 2), k_.constant(j / 2 * 8 + j % 2));
  }

  Left keepInRegisters(const Rows &rows) override;
  Left keepInMemory(const Rows &rows) override;
  void bring(const Rows &first, const Rows &second) override;
  Numbers multiply(const Left &left, int right) override;
  Numbers addProduct(mlir::ValueRange sums, const Numbers &tile, int right) override;

private:
  static constexpr int kWarps = 4, kLanesPerRow = 4;
  static constexpr int64_t kDepth = 16; // terms of the sums of one instruction

  static int64_t paddedWidth(int64_t columns) { return llvm::alignTo(columns, kDepth); }

  // A part of a matrix in shared memory, from `offset` on.
  struct Staged {
    int64_t offset = 0, width = 0, stride = 0;
  };
  // Copies `count` rows, and `width` columns from `column` on, to shared memory at `offset`.
  Staged stage(const Rows &from, int64_t count, int64_t column, int64_t width, int64_t offset);
  // The same for columns of a left factor, between barriers.
  Staged stageLeft(const Rows &from, int64_t column, int64_t width);
  // `from.vector` neighbouring elements, or so many single ones, as a vector; 0 beyond the matrix.
  mlir::Value loadPiece(const Matrix &from, mlir::Value row, mlir::Value column);

  // The parts of factors that an instruction takes, in registers, by their place in `from`: the
  // left one, and the right ones of two neighbouring instructions, which are rows or columns.
  Numbers leftFactor(const Staged &from, int64_t column);
  Numbers rightRows(const Staged &from, int64_t row, int64_t column);
  Numbers rightColumns(const Staged &from, int64_t row, int64_t column);
  // The left factor that is a tile's columns [16 k, 16 k + 16).
  Numbers leftFactor(const Numbers &tile, int k);
  // sums of the columns [column, column + 16) += left * right.
  void accumulate(Numbers &sums, int64_t column, mlir::ValueRange left, mlir::ValueRange right);

  mlir::Type element_;
  mlir::Value row_;                  // the thread's first row
  mlir::Value laneDown_, laneRight_; // lane%16, 8 (lane/16)
  mlir::Value rowsDown_, rowsRight_; // lane%8 + 8 (lane/16), 8 (lane/8%2)
  mlir::Value firstOfWarp_;          // the warp's first row
  int64_t room_ = 0;  // elements of shared memory for a left factor, before the right ones
  int64_t chunk_;     // columns of a left factor in shared memory
  mlir::Value stage_; // array: a left factor and two right ones
  Staged right_[2];
};

} // namespace cleave::codegen
