// GpuGroupEmitter: the code of a kernel group on GPUs, as GpuNest divides it among threads.
//
// Elements are emitted one lane of a chunk after the other; a chunk is what one access reads. Loads
// beyond the end of a row or after the last row are skipped, and give zeros.
#pragma once

#include "passes/codegen/gpu/GpuKernel.h"
#include "passes/codegen/nest/GroupEmitter.h"

namespace cleave::codegen {

// Emits one kernel; `nest` is that of `fusion`, the kernel's computation.
class GpuGroupEmitter : public GroupEmitter {
public:
  GpuGroupEmitter(GpuKernel &kernel, graph::FusionOp fusion, const GroupNest &nest);

private:
  // `width` neighbouring elements, and what has been emitted of them.
  struct Chunk {
    int width = 1;
    mlir::Value valid;                    // null: always
    llvm::SmallVector<mlir::Value> first; // indices of the factors that it moves along
    llvm::SmallVector<Values> lanes;      // the values of GroupEmitter::inner_, per lane
    llvm::DenseMap<const Access *, mlir::Value> vectors;
    llvm::DenseMap<const Access *, mlir::Value> scalars; // loaded ahead, of all lanes
  };
  // A store that waits until all elements of its chunk are loaded.
  struct Pending {
    const Access *access;
    mlir::Value address, condition; // null: always
    llvm::SmallVector<mlir::Value> elements;
  };

  // Fills `short_`.
  void findShortValues();
  void emitPointwise() override;
  void emitRows() override;
  void emitColumns() override;

  // Loads the chunk's vectors of the chosen operands (null: all), ahead of other chunks' code.
  void preload(Chunk &chunk, llvm::ArrayRef<int> factors,
               llvm::function_ref<bool(const Access &)> isChosen = nullptr);
  // Columns: loads what all lanes of the chunk read from the row in hand.
  void preloadScalars(Chunk &chunk);
  // Whether the access varies along one of the factors.
  static bool varies(const Access &access, llvm::ArrayRef<int> factors);
  // Calls `body` for each lane of the chunk, with the lane's indices and values; then writes what
  // it stored.
  void forEachLane(Chunk &chunk, llvm::ArrayRef<int> factors, llvm::function_ref<void()> body);
  mlir::Value emitOp(mlir::Operation *op) override;
  mlir::Value loadElement(const Access &access) override;
  mlir::Value loadVector(const Access &access);
  // Whether the current chunk reads or writes the access as a vector.
  bool isVector(const Access &access) const;
  void storeElement(mlir::Value scalar, const Access &access) override;
  // Builds a load where `valid_` holds, else zero.
  mlir::Value guarded(llvm::function_ref<mlir::Value()> load);
  // Of several threads that compute the same element, the one that stores it.
  mlir::Value isOwner(const Access &access);
  void flush();

  // Pointwise in tiles: a block reads a tile of each transposed operand into shared memory.
  struct Tile {
    llvm::DenseMap<const Access *, mlir::Value> arrays;
    mlir::Value column, row; // of the current element, in the tile
  };
  void emitTiles();
  // Pointwise: the elements of a row after its last whole chunk.
  void emitTail(mlir::Value first);
  // Places the current element in the tile at its indices; sets `valid_`.
  void placeInTile(int columnFactor, int rowFactor, mlir::Value column, mlir::Value row);
  void readTiles();

  // Rows.
  void placeRow();
  Chunk chunkOf(mlir::Value number);
  // The element with this number among the tails of the row.
  Chunk tailOf(mlir::Value number);
  // The thread's `i`-th chunk or tail of a row in registers.
  Chunk inRegister(int64_t i, int64_t count, llvm::function_ref<Chunk(mlir::Value)> make);
  llvm::SmallVector<mlir::Value> neutralSums(const Pass &pass);
  void accumulate(const Pass &pass, Chunk &chunk, llvm::SmallVector<mlir::Value> &sums);
  llvm::SmallVector<mlir::Value> emitPass(const Pass &pass);
  // The chunks [from, to) of a row, made by `make`, of which a trip takes `unroll`.
  void foldChunks(const Pass &pass, int64_t from, int64_t to, int unroll,
                  llvm::function_ref<Chunk(mlir::Value)> make,
                  llvm::SmallVector<mlir::Value> &sums);
  // Combines the sums of the threads of a row, in all of them.
  void exchange(const Pass &pass, llvm::SmallVector<mlir::Value> &sums);
  void exchangeWarps(const Pass &pass, llvm::SmallVector<mlir::Value> &sums);
  mlir::Value butterfly(graph::ReduceOp reduce, mlir::Value value, int lanes);

  // Fills `registers_`.
  void fillRegisters();
  // All passes over the row in hand.
  void emitPasses();
  // Writes the results of the row in hand that have one element per row.
  void storeRowResults();
  // Rows with column sums: the accumulators are per reduction, chunk and lane.
  void emitSweep();
  void placeInSweep(mlir::Value row);
  void loadRegisters(llvm::function_ref<bool(const Access &)> isChosen);
  bool isRowScalar(const Access &access) const;
  llvm::SmallVector<mlir::Value> loadSweptRow(mlir::Value row);
  void setSweptRow(mlir::ValueRange values);
  llvm::SmallVector<mlir::Value>
  sweepRow(mlir::Value row, llvm::ArrayRef<graph::ReduceOp> reductions, mlir::ValueRange carried);

  // Columns: accumulators are per reduction and lane.
  llvm::SmallVector<mlir::Value> sumColumns(const Chunk &chunk, mlir::Value slice,
                                            mlir::Value valid);
  void foldRows(const Chunk &chunk, mlir::Value slice, mlir::Value valid, int64_t rows,
                llvm::SmallVector<mlir::Value> &sums);
  // A chunk for each of the rows `first`, `first + slices`, …: loads them, and adds them.
  void loadRows(llvm::MutableArrayRef<Chunk> rows, mlir::Value first);
  llvm::SmallVector<mlir::Value> addRows(llvm::MutableArrayRef<Chunk> rows, mlir::Value first,
                                         mlir::ValueRange carried);
  // The values from loadRows() that differ between rows, in a fixed order.
  llvm::SmallVector<mlir::Value> loadedOf(llvm::ArrayRef<Chunk> rows);
  void setLoaded(llvm::MutableArrayRef<Chunk> rows, mlir::ValueRange values);
  bool isLoadedAsScalar(const Access &access) const;
  void placeInRow(mlir::Value row);
  void addRow(Chunk &chunk, llvm::SmallVector<mlir::Value> &sums);
  llvm::SmallVector<mlir::Value> shareSums(llvm::SmallVector<mlir::Value> sums);
  llvm::SmallVector<mlir::Value> combineWarps(llvm::ArrayRef<mlir::Value> shared,
                                              mlir::Value column);
  void storeColumn(Chunk &column, llvm::ArrayRef<mlir::Value> sums);

  GpuKernel &gpu_;
  GpuNest threads_;
  // Values that reach memory and reductions as 16-bit floats only. Their functions and quotients
  // are approximate, with an error far below that of the rounding, and their products and sums
  // become multiply-adds.
  llvm::DenseSet<mlir::Value> short_;
  Chunk *chunk_ = nullptr; // the current one
  int lane_ = 0;
  mlir::Value valid_;                  // whether this thread may load; null: it may
  mlir::Value inRow_;                  // Rows: the thread's position in its row
  mlir::Value hasRow_;                 // Rows: whether the thread has a row; null: it has
  llvm::SmallVector<Chunk> registers_; // Rows: the chunks that stay in registers
  llvm::DenseMap<const Access *, mlir::Value> rowScalars_; // Rows in a sweep: loaded ahead
  mlir::Value parity_; // Rows in a sweep: 0 and 1 in turn; else null
  Tile tile_;
  llvm::SmallVector<mlir::Value> tileStart_; // per factor: its index in the tile's first element
  llvm::SmallVector<Pending> pending_;
};

} // namespace cleave::codegen
