// GpuProduct: a tile of a product of two matrices with long sums, by the threads of a block.
//
// 256 threads compute a tile of 128 x 128 sums in f32. They go over the terms of the sums in chunks
// of 64 bytes: while they multiply one chunk in shared memory, the next one is on its way to their
// registers. Factors of 16-bit floats are multiplied by matrix instructions of eight warps, f32
// factors by multiply-adds. Each sum is added in the order of its terms.
#pragma once

#include "passes/codegen/gpu/GpuKernel.h"

#include <memory>

namespace cleave::codegen {

class GpuProduct {
public:
  // Rows and columns of a tile, and threads of a block.
  static constexpr int kSide = 128, kThreadsOfTile = 256;
  static int64_t tilesOf(int64_t size) { return llvm::divideCeil(size, kSide); }

  // A dim of a matrix in memory.
  struct Dim {
    int64_t size, stride;
    bool isAligned = true; // tiles and chunks begin at multiples of kSide and of chunks
  };
  // A factor in a buffer: its lines are rows of the left factor or columns of the right one. The
  // element (line, term) is at origin + line * lines.stride + term * terms.stride.
  struct Factor {
    int64_t argument;
    mlir::Value origin;
    Dim lines, terms;
    int64_t grain; // that divides all possible origins
  };
  // The lines of a factor from `first` on.
  struct Lines {
    Factor factor;
    mlir::Value first;
  };
  // A matrix of results; the element (row, column) is at origin + row * rowStride + ….
  struct Result {
    int64_t argument;
    mlir::Value origin;
    int64_t rowStride, columnStride, columns;
    mlir::Type element;
  };
  // A thread's sums of a tile, row by row.
  using Numbers = llvm::SmallVector<mlir::Value>;

  // Sets the launch of `blocks` blocks. Factors have this element type: f32, or 16-bit floats.
  static std::unique_ptr<GpuProduct> create(GpuKernel &kernel, int64_t blocks, mlir::Type element);
  virtual ~GpuProduct() = default;

  // `start` plus the tile of the product, summed over the terms [begin, end). All threads of the
  // block must get here, once. Numbers beyond the last line of a factor have no meaning.
  Numbers multiply(const Lines &left, const Lines &right, mlir::Value begin, mlir::Value end,
                   mlir::Value start);
  // Stores the tile's rows before `endRow`, and its columns that exist.
  void store(const Numbers &tile, const Result &to, mlir::Value firstRow, mlir::Value endRow,
             mlir::Value firstColumn);

protected:
  static constexpr int kPerThread = 8; // rows and columns of a thread
  static constexpr int kChunkBytes = 64, kPieceBytes = 16;

  GpuProduct(GpuKernel &kernel, int64_t blocks, mlir::Type element);

  // The row or column of a tile that is the thread's number i or j.
  virtual mlir::Value row(int i) = 0;
  virtual mlir::Value column(int j) = 0;
  // A chunk of a factor in shared memory: line by line, or else term by term. The next line or term
  // is `stride` elements on.
  struct Staged {
    mlir::Value first; // element
    bool isByLine;
    int64_t stride;
  };
  // sums + left * right
  virtual Numbers addChunk(mlir::ValueRange sums, const Staged &left, const Staged &right) = 0;

  GpuKernel &k_;
  mlir::OpBuilder &b_;
  mlir::Type element_;
  int64_t chunk_, piece_; // terms of a chunk, and elements that a thread copies at a time
  mlir::Value thread_, stage_;

private:
  // Which neighbouring elements are a piece, and whether they are read at once.
  struct Access {
    bool isByLine, isVector;
    int64_t lines, terms; // of a chunk, in pieces along one of the two
  };
  Access accessOf(const Factor &factor) const;
  int64_t strideOf(const Access &access) const;
  int64_t roomOf() const { return kSide * (chunk_ + piece_); } // of a chunk of one factor
  // The line and the term at which a thread's piece begins, in its chunk.
  std::pair<mlir::Value, mlir::Value> placeOf(const Access &access, int number);

  // The thread's pieces of the chunk that begins at `term`; 0 from `end` on.
  Numbers read(const Lines &from, mlir::Value term, mlir::Value end);
  mlir::Value readPiece(const Factor &from, const Access &access, mlir::Value line,
                        mlir::Value term, mlir::Value end);
  void write(llvm::ArrayRef<mlir::Value> pieces, const Factor &from, mlir::Value first);
};

} // namespace cleave::codegen
