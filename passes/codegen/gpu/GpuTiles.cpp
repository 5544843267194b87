// Rows of arrays in shared memory are one number longer than a power of two, so that threads of
// different rows meet different banks.
#include "passes/codegen/gpu/GpuTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace cleave::codegen {

static constexpr int kThreadsOfTile = kTileSpread * kTileSpread;
static constexpr int64_t kChunk = 32;        // columns that `multiply` stages at a time
static constexpr int64_t kMostColumns = 256; // of a tile of sums
static constexpr int kRowsAtATime = 16;      // that `addProduct` stages
static constexpr int64_t kChunkStride = kChunk + 1, kPlacedStride = kTileSide + 1;
static constexpr int64_t kStaged =
    std::max<int64_t>(2 * kTileSide * kChunkStride, kRowsAtATime *kMostColumns);

GpuTiles::GpuTiles(GpuKernel &kernel, int64_t blocks) : k_(kernel) {
  k_.setLaunch({blocks, kThreadsOfTile, 0});
  Type f32 = k_.builder().getF32Type();
  stage_ = k_.shared(kStaged, f32);
  placed_ = k_.shared(kTileSide * kPlacedStride, f32);
  thread_ = k_.thread();
  SmallVector<Value> at = k_.delinearize(thread_, {kTileSpread, kTileSpread});
  down_ = at[0], across_ = at[1];
}

Value GpuTiles::row(int i) { return k_.add(down_, k_.constant(i * kTileSpread)); }
Value GpuTiles::column(int j) { return k_.add(across_, k_.constant(j * kTileSpread)); }

GpuTiles::Numbers GpuTiles::zeros(int64_t columns) {
  Value zero = k_.scalar(k_.builder().getF32Type(), 0);
  return Numbers(kPerThread * columnsPerThread(columns), zero);
}

Value GpuTiles::multiplyAdd(Value a, Value b, Value sum) {
  return math::FmaOp::create(k_.builder(), k_.loc(), a, b, sum);
}

Value GpuTiles::exists(Value index, int64_t size) {
  return size % kTileSide == 0 ? Value() : k_.isBelow(index, size);
}

Value GpuTiles::isFirst() { return k_.isBelow(across_, 1); }

// -- products -------------------------------------------------------------------------------------

void GpuTiles::stage(const Matrix &from, Value row, Value column, int rows, int64_t width,
                     int64_t stride, int64_t offset) {
  const int64_t count = rows * width;
  const bool checksColumns = column ? from.columns % width != 0 : from.columns < width;
  for (int64_t done = 0; done < count; done += kThreadsOfTile) {
    Value number = k_.add(thread_, k_.constant(done));
    auto copy = [&] {
      SmallVector<Value> at = k_.delinearize(number, {rows, width});
      Value r = k_.add(row, at[0]), c = column ? k_.add(column, at[1]) : at[1];
      Value isInside =
          k_.both(exists(r, from.rows), checksColumns ? k_.isBelow(c, from.columns) : Value());
      Value element = k_.guarded(isInside, [&] {
        Value place = k_.add(k_.mul(r, from.rowStride), k_.mul(c, from.columnStride));
        return k_.widen(k_.load(from.argument, k_.add(from.origin, place), from.element));
      });
      Value to = k_.add(k_.mul(at[0], stride), k_.add(at[1], k_.constant(offset)));
      k_.storeTo(element, stage_, to);
    };
    if (count - done < kThreadsOfTile)
      k_.when(k_.isBelow(number, count), copy);
    else
      copy();
  }
}

Value GpuTiles::staged(Value row, int64_t stride, Value column, int64_t offset) {
  Value at = k_.add(k_.add(k_.mul(row, stride), column), k_.constant(offset));
  return k_.loadFrom(stage_, at, k_.builder().getF32Type());
}

GpuTiles::Numbers GpuTiles::multiply(const Matrix &a, Value rowOfA, const Matrix &b, Value rowOfB) {
  const int64_t width = std::min(kChunk, a.columns), second = kTileSide * kChunkStride;
  return k_.foldBy(
      width, k_.constant(0), k_.constant(a.columns), zeros(kTileSide),
      [&](Value column, ValueRange before) {
        k_.barrier();
        stage(a, rowOfA, column, kTileSide, width, kChunkStride, 0);
        stage(b, rowOfB, column, kTileSide, width, kChunkStride, second);
        k_.barrier();
        return k_.fold(k_.constant(0), k_.constant(width), before, [&](Value d, ValueRange sums) {
          Numbers left, right, next;
          for (int i = 0; i < kPerThread; ++i) {
            left.push_back(staged(row(i), kChunkStride, d, 0));
            right.push_back(staged(this->column(i), kChunkStride, d, second));
          }
          for (int i = 0; i < kPerThread; ++i)
            for (int j = 0; j < kPerThread; ++j)
              next.push_back(multiplyAdd(left[i], right[j], sums[i * kPerThread + j]));
          return next;
        });
      });
}

void GpuTiles::place(const Numbers &tile) {
  k_.barrier(); // the tile before may still be read
  for (int i = 0; i < kPerThread; ++i)
    for (int j = 0; j < kPerThread; ++j)
      k_.storeTo(tile[i * kPerThread + j], placed_,
                 k_.add(k_.mul(row(i), kPlacedStride), column(j)));
}

GpuTiles::Numbers GpuTiles::addProduct(ValueRange sums, const Matrix &b, Value rowOfB) {
  const int columns = columnsPerThread(b.columns);
  const int64_t width = columns * kTileSpread;
  return k_.foldBy(
      kRowsAtATime, k_.constant(0), k_.constant(kTileSide), sums,
      [&](Value first, ValueRange before) {
        k_.barrier();
        stage(b, k_.add(rowOfB, first), {}, kRowsAtATime, width, width, 0);
        k_.barrier();
        return k_.fold(k_.constant(0), k_.constant(kRowsAtATime), before,
                       [&](Value r, ValueRange carried) {
                         Numbers next, right;
                         for (int j = 0; j < columns; ++j)
                           right.push_back(staged(r, width, column(j), 0));
                         for (int i = 0; i < kPerThread; ++i) {
                           Value at = k_.add(k_.mul(row(i), kPlacedStride), k_.add(first, r));
                           Value left = k_.loadFrom(placed_, at, k_.builder().getF32Type());
                           for (int j = 0; j < columns; ++j)
                             next.push_back(multiplyAdd(left, right[j], carried[i * columns + j]));
                         }
                         return next;
                       });
      });
}

void GpuTiles::store(ValueRange tile, const Matrix &to, Value firstRow, double factor) {
  OpBuilder &b = k_.builder();
  const int columns = columnsPerThread(to.columns);
  for (int i = 0; i < kPerThread; ++i)
    for (int j = 0; j < columns; ++j) {
      Value r = k_.add(firstRow, row(i)), c = column(j), number = tile[i * columns + j];
      if (factor != 1)
        number = arith::MulFOp::create(b, k_.loc(), number, k_.scalar(b.getF32Type(), factor));
      Value isInside = k_.both(exists(r, to.rows),
                               to.columns % kTileSpread != 0 ? k_.isBelow(c, to.columns) : Value());
      auto write = [&] {
        Value place = k_.add(k_.mul(r, to.rowStride), k_.mul(c, to.columnStride));
        k_.store(k_.narrow(number, to.element), to.argument, k_.add(to.origin, place));
      };
      isInside ? k_.when(isInside, write) : write();
    }
}

// -- rows -----------------------------------------------------------------------------------------

Value GpuTiles::acrossRow(Value value, Combine combine) {
  for (int mask = 1; mask < kTileSpread; mask *= 2)
    value = combine(value, k_.shuffle(value, mask));
  return value;
}

Value GpuTiles::anyOf(Value line, llvm::function_ref<Value(Value)> isSet) {
  OpBuilder &b = k_.builder();
  return k_.fold(k_.constant(0), k_.constant(kTileSide), k_.scalar(b.getI1Type(), 0),
                 [&](Value i, ValueRange before) -> SmallVector<Value> {
                   Value number = k_.loadFrom(line, i, b.getF32Type());
                   return {arith::OrIOp::create(b, k_.loc(), before[0], isSet(number))};
                 })[0];
}

} // namespace cleave::codegen
