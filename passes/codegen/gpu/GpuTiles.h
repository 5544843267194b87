// GpuTiles: products of tiles of matrices by the threads of a block, through shared memory.
//
// A tile has 64 x 64 numbers. Thread t has those in the rows t/16 + 16 i and the columns
// t%16 + 16 j, so the 16 neighbouring lanes of a half warp share their rows. All numbers are f32
// here. The two products are the places for matrix instructions (mma.sync, wgmma).
#pragma once

#include "passes/codegen/gpu/GpuKernel.h"

namespace cleave::codegen {

inline constexpr int kTileSide = 64;
inline constexpr int kTileSpread = 16; // threads along a side
inline constexpr int kPerThread = kTileSide / kTileSpread;

// A matrix in a buffer: element (r, c) is at origin + r * rowStride + c * columnStride. Rows beyond
// `rows` are 0.
struct Matrix {
  int64_t argument;
  mlir::Value origin;
  int64_t rowStride, columnStride, rows, columns;
  mlir::Type element;
};

class GpuTiles {
public:
  // A thread's numbers of a tile, row by row.
  using Numbers = llvm::SmallVector<mlir::Value>;

  // Sets the launch of `blocks` blocks.
  GpuTiles(GpuKernel &kernel, int64_t blocks);

  // The row or column of a tile that is the thread's number i or j.
  mlir::Value row(int i);
  mlir::Value column(int j);
  static int columnsPerThread(int64_t columns) { return llvm::divideCeil(columns, kTileSpread); }
  static int64_t tilesOf(int64_t size) { return llvm::divideCeil(size, kTileSide); }

  // Numbers of a tile with so many columns, all 0.
  Numbers zeros(int64_t columns);
  // The tile of a bᵀ for 64 rows of each, from these on. All threads of the block must get here.
  Numbers multiply(const Matrix &a, mlir::Value rowOfA, const Matrix &b, mlir::Value rowOfB);
  // Places a 64 x 64 tile in shared memory, where addProduct finds it.
  void place(const Numbers &tile);
  // sums += placed tile * 64 rows of b.
  Numbers addProduct(mlir::ValueRange sums, const Matrix &b, mlir::Value rowOfB);
  // Stores a tile, times `factor`.
  void store(mlir::ValueRange tile, const Matrix &to, mlir::Value firstRow, double factor);

  // The value of all lanes that share the thread's rows, combined in a fixed order.
  using Combine = llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)>;
  mlir::Value acrossRow(mlir::Value value, Combine combine);
  // 64 numbers of shared memory, one per row or column of a tile.
  mlir::Value newLine() { return k_.shared(kTileSide, k_.builder().getF32Type()); }
  // Whether `isSet` holds for any number of a line that all threads can read.
  mlir::Value anyOf(mlir::Value line, llvm::function_ref<mlir::Value(mlir::Value)> isSet);
  // Whether the thread has the first column of its rows.
  mlir::Value isFirst();
  // Whether the row exists; null: always.
  mlir::Value exists(mlir::Value index, int64_t size);

private:
  // Copies rows and columns from these on to shared memory at `offset`, with `stride` numbers per
  // row. A null column is 0.
  void stage(const Matrix &from, mlir::Value row, mlir::Value column, int rows, int64_t width,
             int64_t stride, int64_t offset);
  mlir::Value staged(mlir::Value row, int64_t stride, mlir::Value column, int64_t offset);
  mlir::Value multiplyAdd(mlir::Value a, mlir::Value b, mlir::Value sum);

  GpuKernel &k_;
  mlir::Value thread_, across_, down_; // the thread's number, its first column and row
  mlir::Value stage_, placed_;         // arrays
};

} // namespace cleave::codegen
