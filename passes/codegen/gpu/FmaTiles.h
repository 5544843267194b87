// FmaTiles: products of tiles by multiply-adds of 256 threads, in f32.
//
// Thread t has the rows t/16 + 16 i and the columns t%16 + 16 j of a tile, so the 16 neighbouring
// lanes of a half warp share their rows.
#pragma once

#include "passes/codegen/gpu/GpuTiles.h"

#include <array>

namespace cleave::codegen {

class FmaTiles : public GpuTiles {
public:
  FmaTiles(GpuKernel &kernel, int64_t blocks, int64_t columns);

  int rowCount() const override { return kTileRows / kSpread; }
  int columnCount(int64_t columns) const override { return llvm::divideCeil(columns, kSpread); }
  mlir::Value row(int i) override { return k_.add(down_, k_.constant(i * kSpread)); }
  mlir::Value column(int j) override { return k_.add(lane_, k_.constant(j * kSpread)); }

  // Nothing is kept: products bring their factors in small parts.
  Left keepInRegisters(const Rows &rows) override { return {rows}; }
  Left keepInMemory(const Rows &rows) override { return {rows}; }
  void bring(const Rows &first, const Rows &second) override { right_ = {first, second}; }
  Numbers multiply(const Left &left, int right) override;
  Numbers addProduct(mlir::ValueRange sums, const Numbers &tile, int right) override;

private:
  static constexpr int kSpread = 16; // threads along a side

  // Copies rows and columns from these on to shared memory at `offset`, with `stride` numbers per
  // row. A null column is 0.
  void stage(const Matrix &from, mlir::Value row, mlir::Value column, int rows, int64_t width,
             int64_t stride, int64_t offset);
  mlir::Value staged(mlir::Value row, int64_t stride, mlir::Value column, int64_t offset);
  void place(const Numbers &tile);
  mlir::Value multiplyAdd(mlir::Value a, mlir::Value b, mlir::Value sum);

  std::array<Rows, 2> right_;
  mlir::Value stage_, placed_; // arrays
};

} // namespace cleave::codegen
