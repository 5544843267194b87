// GpuTiles: products of tiles of matrices by the threads of a block, through shared memory.
//
// A tile has 64 rows, and 64 or 32 columns or those of a matrix. Each thread has the same number of
// rows and columns of it, which depend on how products are computed:
//
//   FmaTiles   multiply-adds of the threads, in f32, on matrices of any type
//   MmaTiles   matrix instructions of the warps, on matrices of 16-bit floats, with sums in f32
#pragma once

#include "passes/codegen/gpu/GpuKernel.h"

#include <memory>

namespace cleave::codegen {

inline constexpr int kTileRows = 64;

// A matrix in a buffer: element (r, c) is at origin + r * rowStride + c * columnStride. Rows beyond
// `rows` are 0.
struct Matrix {
  int64_t argument;
  mlir::Value origin;
  int64_t rowStride, columnStride, rows, columns;
  mlir::Type element;
  int vector = 1; // neighbouring elements of a row that are read at once: 16 bytes, or 1
};

class GpuTiles {
public:
  // A thread's numbers of a tile, row by row, in f32.
  using Numbers = llvm::SmallVector<mlir::Value>;

  // Sets the launch of `blocks` blocks, for products of matrices of this type with at most
  // `columns` columns. Tiles that are products of two matrices have `side` columns, or another
  // number where that suits the threads.
  static std::unique_ptr<GpuTiles> create(GpuKernel &kernel, int64_t blocks, mlir::Type element,
                                          int64_t columns, int side);
  virtual ~GpuTiles() = default;

  int side() const { return side_; }
  // The number of a thread's rows, and of its columns in a tile with so many columns.
  virtual int rowCount() const = 0;
  virtual int columnCount(int64_t columns) const = 0;
  // The row or column of a tile that is the thread's number i or j.
  virtual mlir::Value row(int i) = 0;
  virtual mlir::Value column(int j) = 0;
  static int64_t tilesOf(int64_t size) { return llvm::divideCeil(size, kTileRows); }

  // The rows of a matrix from `row` on, as factor of several products.
  struct Rows {
    Matrix matrix;
    mlir::Value row;
  };
  // 64 rows as left factor, and where they are kept: `held` in registers, or in shared memory.
  struct Left {
    Rows rows;
    Numbers held = {};
    bool isShared = false;
  };
  // All threads of the block must get to the functions below. A left factor is kept from here on,
  // where there is room: any number in registers, before right factors are brought; one in shared
  // memory, if tiles have 32 columns.
  virtual Left keepInRegisters(const Rows &rows) = 0;
  virtual Left keepInMemory(const Rows &rows) = 0;
  // Two right factors of `side` rows each, numbers 0 and 1 below, which replace those before.
  virtual void bring(const Rows &first, const Rows &second) = 0;
  // The tile of the left factor times the transposed right one.
  virtual Numbers multiply(const Left &left, int right) = 0;
  // sums += tile * right factor. The tile's numbers are rounded to the factor's type.
  virtual Numbers addProduct(mlir::ValueRange sums, const Numbers &tile, int right) = 0;

  // Numbers of a tile with so many columns, all 0.
  Numbers zeros(int64_t columns);
  // Stores a tile, times `factor`.
  void store(mlir::ValueRange tile, const Matrix &to, mlir::Value firstRow, double factor);

  // The lanes that share rows: how many, and the thread's number among them.
  int lanesPerRow() const { return lanesPerRow_; }
  mlir::Value lane() { return lane_; }
  // The value of all lanes that share the thread's rows, combined in a fixed order.
  using Combine = llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)>;
  mlir::Value acrossRow(mlir::Value value, Combine combine);
  // Whether the thread is the first of these lanes.
  mlir::Value isFirst() { return k_.isBelow(lane_, 1); }
  // 64 numbers of shared memory, one per row or column of a tile.
  mlir::Value newLine() { return k_.shared(kTileRows, k_.builder().getF32Type()); }
  // Whether `isSet` holds for any number of a line that all threads can read.
  mlir::Value anyOf(mlir::Value line, llvm::function_ref<mlir::Value(mlir::Value)> isSet);
  // Whether the row exists; null: always.
  mlir::Value exists(mlir::Value index, int64_t size);

protected:
  // Lanes of neighbouring numbers share rows.
  GpuTiles(GpuKernel &kernel, int64_t blocks, int threads, int lanesPerRow, int side);

  // The element of a matrix.
  mlir::Value indexOf(const Matrix &matrix, mlir::Value row, mlir::Value column);

  GpuKernel &k_;
  int threads_, lanesPerRow_, side_;
  mlir::Value thread_, lane_, down_; // the thread's number, its lane in the row, and thread/lanes
};

} // namespace cleave::codegen
