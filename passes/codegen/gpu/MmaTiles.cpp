// Rows of arrays in shared memory are 16 bytes longer than their columns, so that the eight rows
// of a matrix that ldmatrix reads are in different banks.
#include "passes/codegen/gpu/MmaTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace cleave::codegen {

static constexpr int64_t kMostKept = 128; // columns of a left factor that is kept
static constexpr int64_t kMmaChunk = 64;  // columns of other left factors that are staged at a time
static constexpr int kPiece = 8;          // elements that a thread copies at a time: 16 bytes
static constexpr int kInFlight = 4;       // pieces that a thread reads before it writes them

// Wide matrices have tiles of 32 columns, so that shared memory stays within 48 KiB.
MmaTiles::MmaTiles(GpuKernel &kernel, int64_t blocks, Type element, int64_t columns, int side)
    : GpuTiles(kernel, blocks, kWarps * kWarp, kLanesPerRow, columns > kMostKept ? 32 : side),
      element_(element), chunk_(columns > kMostKept ? kMmaChunk : paddedWidth(columns)) {
  SmallVector<Value> at = k_.delinearize(thread_, {kWarps, 2, 2, 8}); // warp, bits 4 and 3, lane%8
  firstOfWarp_ = k_.mul(at[0], 16);
  laneRight_ = k_.mul(at[1], 8);
  laneDown_ = k_.add(k_.mul(at[2], 8), at[3]);
  rowsRight_ = k_.mul(at[2], 8);
  rowsDown_ = k_.add(laneRight_, at[3]);
  row_ = k_.add(firstOfWarp_, k_.delinearize(down_, {kWarps, 8})[1]);
  room_ = side_ < kTileRows ? kTileRows * (chunk_ + kPiece) : 0;
  stage_ = k_.shared(room_ + 2 * side_ * (paddedWidth(columns) + kPiece), element);
}

// -- shared memory --------------------------------------------------------------------------------

Value MmaTiles::loadPiece(const Matrix &from, Value row, Value column) {
  Value rowExists = exists(row, from.rows);
  if (from.vector == kPiece) {
    Value isInside = from.columns % kDepth == 0
                         ? rowExists
                         : k_.both(rowExists, k_.isBelow(column, from.columns));
    return k_.guarded(isInside, [&] {
      return k_.loadVector(from.argument, indexOf(from, row, column), from.element, kPiece);
    });
  }
  Numbers elements;
  for (int i = 0; i < kPiece; ++i) {
    Value c = k_.add(column, k_.constant(i));
    elements.push_back(k_.guarded(k_.both(rowExists, k_.isBelow(c, from.columns)), [&] {
      return k_.load(from.argument, indexOf(from, row, c), from.element);
    }));
  }
  return k_.vectorOf(elements);
}

MmaTiles::Staged MmaTiles::stage(const Rows &from, int64_t count, int64_t column, int64_t width,
                                 int64_t offset) {
  const int64_t stride = width + kPiece, perRow = width / kPiece, pieces = count * perRow;
  auto copy = [&](int64_t first, int64_t end) { // the threads' pieces of these
    Numbers places, read;
    for (; first < end; first += threads_) {
      SmallVector<Value> at = k_.delinearize(k_.add(thread_, k_.constant(first)), {count, perRow});
      Value c = k_.mul(at[1], kPiece);
      places.push_back(k_.add(k_.mul(at[0], stride), k_.add(c, k_.constant(offset))));
      read.push_back(
          loadPiece(from.matrix, k_.add(from.row, at[0]), k_.add(c, k_.constant(column))));
    }
    for (auto [place, piece] : llvm::zip(places, read))
      k_.storeVectorTo(piece, stage_, place, element_);
  };
  const int64_t whole = pieces / threads_ * threads_;
  for (int64_t first = 0; first < whole; first += kInFlight * threads_)
    copy(first, std::min(whole, first + kInFlight * threads_));
  if (whole < pieces)
    k_.when(k_.isBelow(thread_, pieces - whole), [&] { copy(whole, pieces); });
  return {offset, width, stride};
}

MmaTiles::Staged MmaTiles::stageLeft(const Rows &from, int64_t column, int64_t width) {
  k_.barrier(); // what was there before may still be read
  Staged staged = stage(from, kTileRows, column, width, 0);
  k_.barrier();
  return staged;
}

void MmaTiles::bring(const Rows &first, const Rows &second) {
  const int64_t width = paddedWidth(first.matrix.columns), more = side_ * (width + kPiece);
  k_.barrier(); // those before may still be read
  right_[0] = stage(first, side_, 0, width, room_);
  right_[1] = stage(second, side_, 0, paddedWidth(second.matrix.columns), room_ + more);
  k_.barrier();
}

GpuTiles::Numbers MmaTiles::leftFactor(const Staged &from, int64_t column) {
  Value at = k_.add(k_.mul(k_.add(firstOfWarp_, laneDown_), from.stride), laneRight_);
  return k_.loadMatrices(stage_, k_.add(at, k_.constant(from.offset + column)), element_,
                         /*isTransposed=*/false);
}

GpuTiles::Numbers MmaTiles::rightRows(const Staged &from, int64_t row, int64_t column) {
  Value at = k_.add(k_.mul(rowsDown_, from.stride), rowsRight_);
  return k_.loadMatrices(stage_, k_.add(at, k_.constant(from.offset + row * from.stride + column)),
                         element_,
                         /*isTransposed=*/false);
}

GpuTiles::Numbers MmaTiles::rightColumns(const Staged &from, int64_t row, int64_t column) {
  Value at = k_.add(k_.mul(laneDown_, from.stride), laneRight_);
  return k_.loadMatrices(stage_, k_.add(at, k_.constant(from.offset + row * from.stride + column)),
                         element_,
                         /*isTransposed=*/true);
}

// -- products -------------------------------------------------------------------------------------

GpuTiles::Numbers MmaTiles::leftFactor(const Numbers &tile, int k) {
  const int columns = columnCount(side_);
  auto pair = [&](int i, int j) {
    return k_.pack(tile[i * columns + j], tile[i * columns + j + 1], element_);
  };
  return {pair(0, 4 * k), pair(1, 4 * k), pair(0, 4 * k + 2), pair(1, 4 * k + 2)};
}

void MmaTiles::accumulate(Numbers &sums, int64_t column, ValueRange left, ValueRange right) {
  const size_t perRow = sums.size() / 2;
  for (int half = 0; half < 2; ++half) {
    const size_t j = (column + 8 * half) / kLanesPerRow;
    Value *of[] = {&sums[j], &sums[j + 1], &sums[perRow + j], &sums[perRow + j + 1]};
    Numbers next = k_.multiplyMatrices(left, right.slice(2 * half, 2),
                                       {*of[0], *of[1], *of[2], *of[3]}, element_);
    for (auto [sum, value] : llvm::zip(of, next))
      *sum = value;
  }
}

GpuTiles::Left MmaTiles::keepInRegisters(const Rows &rows) {
  Left left{rows};
  const int64_t width = paddedWidth(rows.matrix.columns);
  if (width > kMostKept)
    return left;
  Staged staged = stageLeft(rows, 0, width);
  for (int64_t column = 0; column < width; column += kDepth)
    append_range(left.held, leftFactor(staged, column));
  return left;
}

GpuTiles::Left MmaTiles::keepInMemory(const Rows &rows) {
  const int64_t width = paddedWidth(rows.matrix.columns);
  if (width > chunk_)
    return {rows};
  assert(room_ > 0 && "tiles of 64 columns take all of shared memory");
  stageLeft(rows, 0, width);
  return {rows, {}, /*isShared=*/true};
}

GpuTiles::Numbers MmaTiles::multiply(const Left &left, int right) {
  Numbers sums = zeros(side_);
  const int64_t whole = right_[right].width;
  Staged staged{0, whole, whole + kPiece};
  for (int64_t column = 0; column < whole; column += kDepth) {
    const bool isKept = left.isShared || !left.held.empty();
    if (!isKept && column % chunk_ == 0)
      staged = stageLeft(left.rows, column, std::min(chunk_, whole - column));
    Numbers factor = left.held.empty()
                         ? leftFactor(staged, isKept ? column : column % chunk_)
                         : llvm::to_vector(ArrayRef(left.held).slice(column / kDepth * 4, 4));
    for (int64_t row = 0; row < side_; row += kDepth)
      accumulate(sums, row, factor, rightRows(right_[right], row, column));
  }
  return sums;
}

GpuTiles::Numbers MmaTiles::addProduct(ValueRange sums, const Numbers &tile, int right) {
  Numbers next = llvm::to_vector(sums);
  for (int64_t row = 0; row < side_; row += kDepth) {
    Numbers left = leftFactor(tile, static_cast<int>(row / kDepth));
    for (int64_t column = 0; column < right_[right].width; column += kDepth)
      accumulate(next, column, left, rightColumns(right_[right], row, column));
  }
  return next;
}

} // namespace cleave::codegen
