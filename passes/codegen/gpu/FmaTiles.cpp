// Rows of arrays in shared memory are one number longer than a power of two, so that threads of
// different rows meet different banks.
#include "passes/codegen/gpu/FmaTiles.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace cleave::codegen {

static constexpr int64_t kFmaChunk = 32; // columns that `multiply` stages at a time
static constexpr int kRowsAtATime = 16;  // that `addProduct` stages
static constexpr int64_t kChunkStride = kFmaChunk + 1, kPlacedStride = kTileRows + 1;

FmaTiles::FmaTiles(GpuKernel &kernel, int64_t blocks, int64_t columns)
    : GpuTiles(kernel, blocks, kSpread * kSpread, kSpread, kTileRows) {
  Type f32 = k_.builder().getF32Type();
  const int64_t staged = std::max<int64_t>(2 * kTileRows * kChunkStride,
                                           kRowsAtATime * llvm::alignTo(columns, kSpread));
  stage_ = k_.shared(staged, f32);
  placed_ = k_.shared(kTileRows * kPlacedStride, f32);
}

Value FmaTiles::multiplyAdd(Value a, Value b, Value sum) {
  return math::FmaOp::create(k_.builder(), k_.loc(), a, b, sum);
}

void FmaTiles::stage(const Matrix &from, Value row, Value column, int rows, int64_t width,
                     int64_t stride, int64_t offset) {
  const int64_t count = rows * width;
  const bool checksColumns = column ? from.columns % width != 0 : from.columns < width;
  for (int64_t done = 0; done < count; done += threads_) {
    Value number = k_.add(thread_, k_.constant(done));
    auto copy = [&] {
      SmallVector<Value> at = k_.delinearize(number, {rows, width});
      Value r = k_.add(row, at[0]), c = column ? k_.add(column, at[1]) : at[1];
      Value isInside =
          k_.both(exists(r, from.rows), checksColumns ? k_.isBelow(c, from.columns) : Value());
      Value element = k_.guarded(isInside, [&] {
        return k_.widen(k_.load(from.argument, indexOf(from, r, c), from.element));
      });
      Value to = k_.add(k_.mul(at[0], stride), k_.add(at[1], k_.constant(offset)));
      k_.storeTo(element, stage_, to);
    };
    if (count - done < threads_)
      k_.when(k_.isBelow(number, count), copy);
    else
      copy();
  }
}

Value FmaTiles::staged(Value row, int64_t stride, Value column, int64_t offset) {
  Value at = k_.add(k_.add(k_.mul(row, stride), column), k_.constant(offset));
  return k_.loadFrom(stage_, at, k_.builder().getF32Type());
}

GpuTiles::Numbers FmaTiles::multiply(const Left &left, int right) {
  const Rows a = left.rows, b = right_[right];
  const int64_t columns = a.matrix.columns, width = std::min(kFmaChunk, columns),
                second = kTileRows * kChunkStride;
  const int side = rowCount();
  return k_.fold(k_.constant(0), k_.constant(columns), width, zeros(kTileRows),
                 [&](Value column, ValueRange before) {
                   k_.barrier();
                   stage(a.matrix, a.row, column, kTileRows, width, kChunkStride, 0);
                   stage(b.matrix, b.row, column, kTileRows, width, kChunkStride, second);
                   k_.barrier();
                   return k_.fold(
                       k_.constant(0), k_.constant(width), 1, before,
                       [&](Value d, ValueRange sums) {
                         Numbers left, right, next;
                         for (int i = 0; i < side; ++i) {
                           left.push_back(staged(row(i), kChunkStride, d, 0));
                           right.push_back(staged(this->column(i), kChunkStride, d, second));
                         }
                         for (int i = 0; i < side; ++i)
                           for (int j = 0; j < side; ++j)
                             next.push_back(multiplyAdd(left[i], right[j], sums[i * side + j]));
                         return next;
                       });
                 });
}

// Places a tile in shared memory.
void FmaTiles::place(const Numbers &tile) {
  k_.barrier(); // the tile before may still be read
  const int side = rowCount();
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j)
      k_.storeTo(tile[i * side + j], placed_, k_.add(k_.mul(row(i), kPlacedStride), column(j)));
}

GpuTiles::Numbers FmaTiles::addProduct(ValueRange sums, const Numbers &tile, int right) {
  place(tile);
  const Rows b = right_[right];
  const int columns = columnCount(b.matrix.columns);
  const int64_t width = columns * kSpread;
  return k_.fold(k_.constant(0), k_.constant(kTileRows), kRowsAtATime, sums,
                 [&](Value first, ValueRange before) {
                   k_.barrier();
                   stage(b.matrix, k_.add(b.row, first), {}, kRowsAtATime, width, width, 0);
                   k_.barrier();
                   return k_.fold(
                       k_.constant(0), k_.constant(kRowsAtATime), 1, before,
                       [&](Value r, ValueRange carried) {
                         Numbers next, right;
                         for (int j = 0; j < columns; ++j)
                           right.push_back(staged(r, width, column(j), 0));
                         for (int i = 0; i < rowCount(); ++i) {
                           Value at = k_.add(k_.mul(row(i), kPlacedStride), k_.add(first, r));
                           Value left = k_.loadFrom(placed_, at, k_.builder().getF32Type());
                           for (int j = 0; j < columns; ++j)
                             next.push_back(multiplyAdd(left, right[j], carried[i * columns + j]));
                         }
                         return next;
                       });
                 });
}

} // namespace cleave::codegen
