// GpuNest: how the threads of a GPU share a kernel group, as plain data, decided before any code is
// emitted.
//
//   Pointwise  a thread computes `width` neighbouring elements at a time, in a loop with the stride
//              of the grid. A thread stays in its columns if something is computed per column, once
//              per thread: the scale of a channel in channels-last batch norm. Operands that are
//              contiguous across the rows (a transpose) are read in tiles, through shared memory
//   Rows       `threadsPerRow` threads compute one row: short rows share a block, long rows have
//              one of their own. A row stays in registers if its part of each thread is small, and
//              is read once if no pass after the first needs it
//              Rows with column sums: a block computes one row after the other, all in registers,
//              and loads the next row meanwhile
//   Columns    `lanes` threads read `width` neighbouring columns each; the `slices` of a block, of
//              `lanes` threads each, take turns at the rows, and their sums are added in a fixed
//              order
//
// Loops over long rows and over columns take `unroll` accesses of each operand per trip, so that
// enough loads are in flight to hide the latency of memory. A loop over columns loads the accesses
// of a trip during the trip before; else ptxas would move each next to its first use.
#pragma once

#include "passes/codegen/nest/GroupNest.h"

namespace cleave::codegen {

inline constexpr int kWarp = 32;
inline constexpr int kThreads = 256;   // per block, where a thread computes single elements
inline constexpr int kGpuTile = kWarp; // side of a tile in elements
inline constexpr int64_t kMostBlocks = 1 << 12; // a longer parallel range is a loop

// The shape of a launch. All grids and blocks are one-dimensional.
struct Launch {
  int64_t blocks = 0;      // of all instances
  int threads = 0;         // per block
  int64_t sharedBytes = 0; // of a block, allocated statically by the kernel
  int resident = 0;        // minimum of blocks per multiprocessor; limits registers. 0: none
  int64_t instances = 1;
};

// The part of a nest that each thread computes.
struct GpuNest {
  int inner = -1;     // the factor along which accesses are vectors, -1: none
  int width = 1;      // elements of an access
  int64_t chunks = 1; // accesses along a row (Rows, over all reduced factors) or across the columns
  int64_t tail = 0;   // Pointwise and Rows: elements of the inner factor after whole accesses
  int64_t tails = 0;  // Rows: those of all reduced factors
  int unroll = 1;     // accesses of each operand in one trip of a loop
  bool staysInColumns = false;             // Pointwise
  int threadsPerRow = 1, rowsPerBlock = 1; // Rows; a power of two
  bool inRegisters = true;                 // Rows
  int lanes = kWarp, slices = 1;           // Columns; powers of two, lanes at most a warp
  Launch launch;                           // without shared memory

  // Whether the access reads or writes `width` elements that are neighbours and aligned.
  bool isVector(const Access &access) const { return isVector(access, width); }
  bool isVector(const Access &access, int64_t elements) const;
  // The accesses along a row of one thread, and the elements that it takes of the tails.
  int64_t chunksPerThread() const { return llvm::divideCeil(chunks, threadsPerRow); }
  int64_t tailsPerThread() const { return llvm::divideCeil(tails, threadsPerRow); }
  // Columns: the columns of a block.
  int64_t columns() const { return int64_t(lanes) * width; }
};

// The division of a nest among threads. `sumBytes` is the size of the accumulators of one column.
GpuNest gpuNestOf(const GroupNest &nest, int64_t sumBytes);

} // namespace cleave::codegen
