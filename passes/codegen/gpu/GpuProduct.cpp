// Lines and terms in shared memory are 16 bytes longer than needed, so that the eight rows of a
// matrix that ldmatrix reads are in different banks.
#include "passes/codegen/gpu/GpuProduct.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace cleave::codegen {

GpuProduct::GpuProduct(GpuKernel &kernel, int64_t blocks, Type element)
    : k_(kernel), b_(kernel.builder()), element_(element),
      chunk_(kChunkBytes * 8 / element.getIntOrFloatBitWidth()),
      piece_(kPieceBytes * 8 / element.getIntOrFloatBitWidth()) {
  k_.setLaunch({blocks, kThreadsOfTile, 0});
  k_.setResident(2); // 128 registers of a thread
  thread_ = k_.thread();
  stage_ = k_.shared(4 * roomOf(), element); // two chunks of both factors
}

// -- from memory to shared memory -----------------------------------------------------------------

GpuProduct::Access GpuProduct::accessOf(const Factor &factor) const {
  const Dim &lines = factor.lines, &terms = factor.terms;
  const bool isByLine = terms.stride == 1 || lines.stride != 1;
  const Dim &along = isByLine ? terms : lines, &across = isByLine ? lines : terms;
  const bool isVector = along.stride == 1 && along.isAligned && along.size % piece_ == 0 &&
                        across.stride % piece_ == 0 && factor.grain % piece_ == 0;
  return {isByLine, isVector, kSide / (isByLine ? 1 : piece_), chunk_ / (isByLine ? piece_ : 1)};
}

int64_t GpuProduct::strideOf(const Access &access) const {
  return (access.isByLine ? chunk_ : kSide) + piece_;
}

std::pair<Value, Value> GpuProduct::placeOf(const Access &access, int number) {
  const int64_t perStep = access.isByLine ? access.terms : access.lines;
  SmallVector<Value> at = k_.delinearize(thread_, {kThreadsOfTile / perStep, perStep});
  Value across = k_.add(at[0], k_.constant(number * (kThreadsOfTile / perStep))),
        along = k_.mul(at[1], piece_);
  return access.isByLine ? std::pair(across, along) : std::pair(along, across);
}

Value GpuProduct::readPiece(const Factor &from, const Access &access, Value line, Value term,
                            Value end) {
  const bool fits = from.lines.isAligned && from.lines.size % kSide == 0;
  auto address = [&](Value l, Value t, int64_t width) {
    Value inside = fits ? l : k_.smaller(l, from.lines.size - width);
    return k_.add(from.origin,
                  k_.add(k_.mul(inside, from.lines.stride), k_.mul(t, from.terms.stride)));
  };
  auto exists = [&](Value t) -> Value {
    return arith::CmpIOp::create(b_, k_.loc(), arith::CmpIPredicate::slt, t, end);
  };
  if (access.isVector)
    return k_.guarded(exists(term), [&] {
      Value at = address(line, term, access.isByLine ? 1 : piece_);
      return k_.loadVector(from.argument, at, element_, static_cast<int>(piece_));
    });
  Numbers elements;
  for (int64_t i = 0; i < piece_; ++i) {
    Value next = k_.constant(i), l = access.isByLine ? line : k_.add(line, next),
          t = access.isByLine ? k_.add(term, next) : term;
    elements.push_back(
        k_.guarded(exists(t), [&] { return k_.load(from.argument, address(l, t, 1), element_); }));
  }
  return k_.vectorOf(elements);
}

GpuProduct::Numbers GpuProduct::read(const Lines &from, Value term, Value end) {
  const Access access = accessOf(from.factor);
  Numbers pieces;
  for (int i = 0; i * kThreadsOfTile < access.lines * access.terms; ++i) {
    auto [line, next] = placeOf(access, i);
    pieces.push_back(
        readPiece(from.factor, access, k_.add(from.first, line), k_.add(term, next), end));
  }
  return pieces;
}

void GpuProduct::write(ArrayRef<Value> pieces, const Factor &from, Value first) {
  const Access access = accessOf(from);
  for (auto [i, piece] : llvm::enumerate(pieces)) {
    auto [line, term] = placeOf(access, static_cast<int>(i));
    Value across = access.isByLine ? line : term, along = access.isByLine ? term : line;
    Value place = k_.add(first, k_.add(k_.mul(across, strideOf(access)), along));
    k_.storeVectorTo(piece, stage_, place, element_);
  }
}

// -- products -------------------------------------------------------------------------------------

GpuProduct::Numbers GpuProduct::multiply(const Lines &left, const Lines &right, Value begin,
                                         Value end, Value start) {
  const int64_t room = roomOf();
  auto readBoth = [&](Value term) {
    return std::pair(read(left, term, end), read(right, term, end));
  };
  auto writeBoth = [&](const std::pair<Numbers, Numbers> &pieces, Value first) {
    write(pieces.first, left.factor, first);
    write(pieces.second, right.factor, k_.add(first, k_.constant(room)));
    k_.barrier();
  };
  auto staged = [&](const Factor &factor, Value first) -> Staged {
    const Access access = accessOf(factor);
    return {first, access.isByLine, strideOf(access)};
  };
  writeBoth(readBoth(begin), k_.constant(0));
  Numbers all(kPerThread * kPerThread, start);
  all.push_back(k_.constant(0)); // where the current chunks are
  all = k_.fold(begin, end, chunk_, all, [&](Value term, ValueRange carried) {
    Value first = carried.back();
    Value other = arith::SubIOp::create(b_, k_.loc(), k_.constant(2 * room), first);
    std::pair<Numbers, Numbers> next = readBoth(k_.add(term, k_.constant(chunk_)));
    Numbers sums = addChunk(carried.drop_back(), staged(left.factor, first),
                            staged(right.factor, k_.add(first, k_.constant(room))));
    writeBoth(next, other);
    sums.push_back(other);
    return sums;
  });
  all.pop_back();
  return all;
}

void GpuProduct::store(const Numbers &tile, const Result &to, Value firstRow, Value endRow,
                       Value firstColumn) {
  for (int i = 0; i < kPerThread; ++i) {
    Value r = k_.add(firstRow, row(i));
    Value exists = arith::CmpIOp::create(b_, k_.loc(), arith::CmpIPredicate::slt, r, endRow);
    k_.when(exists, [&] {
      Value line = k_.add(to.origin, k_.mul(r, to.rowStride));
      for (int j = 0; j < kPerThread; ++j) {
        Value c = k_.add(firstColumn, column(j));
        auto write = [&] {
          k_.store(k_.narrow(tile[i * kPerThread + j], to.element), to.argument,
                   k_.add(line, k_.mul(c, to.columnStride)));
        };
        to.columns % kSide == 0 ? write() : k_.when(k_.isBelow(c, to.columns), write);
      }
    });
  }
}

namespace {

// Two by four warps have 64 rows and 32 columns each, in tiles of mma.sync m16n8k16: lane l has the
// rows l/4 + 8 i and the columns 2 (l%4) + j of each.
class MmaProduct : public GpuProduct {
public:
  MmaProduct(GpuKernel &kernel, int64_t blocks, Type element)
      : GpuProduct(kernel, blocks, element) {
    SmallVector<Value> at = k_.delinearize(thread_, {2, 4, kWarp});
    firstRow_ = k_.mul(at[0], kRows);
    firstColumn_ = k_.mul(at[1], kColumns);
    SmallVector<Value> lane = k_.delinearize(at[2], {kWarp / 4, 4});
    row_ = k_.add(firstRow_, lane[0]);
    column_ = k_.add(firstColumn_, k_.mul(lane[1], 2));
    SmallVector<Value> bits = k_.delinearize(at[2], {2, 2, 8}); // lane/16, lane/8%2, lane%8
    high_ = k_.mul(bits[0], 8), middle_ = k_.mul(bits[1], 8), low_ = bits[2];
  }

protected:
  Value row(int i) override { return k_.add(row_, k_.constant(i / 2 * 16 + i % 2 * 8)); }
  Value column(int j) override { return k_.add(column_, k_.constant(j / 2 * 8 + j % 2)); }

  Numbers addChunk(ValueRange sums, const Staged &left, const Staged &right) override {
    Numbers next = llvm::to_vector(sums);
    for (int64_t term = 0; term < chunk_; term += kDepth) {
      SmallVector<Numbers> factors;
      for (int64_t line = 0; line < kRows; line += 16)
        factors.push_back(leftWords(left, k_.add(firstRow_, k_.constant(line)), term));
      for (int64_t line = 0; line < kColumns; line += 16) {
        Numbers words = rightWords(right, k_.add(firstColumn_, k_.constant(line)), term);
        for (auto [i, factor] : llvm::enumerate(factors))
          for (int64_t half = 0; half < 2; ++half)
            accumulate(next, 2 * i * kPerThread + line / 4 + 2 * half, factor,
                       ValueRange(words).slice(2 * half, 2));
      }
    }
    return next;
  }

private:
  static constexpr int64_t kRows = 64, kColumns = 32; // of a warp
  static constexpr int64_t kDepth = 16;               // terms of one instruction

  // The words of 16 lines and 16 terms. Matrices of ldmatrix are in the order of the instruction's
  // left factor: lines, then terms; those of two right factors: terms, then lines.
  Numbers leftWords(const Staged &from, Value line, int64_t term) {
    return words(from, line, term, from.isByLine ? k_.add(middle_, low_) : middle_,
                 from.isByLine ? high_ : k_.add(high_, low_));
  }
  Numbers rightWords(const Staged &from, Value line, int64_t term) {
    return words(from, line, term, from.isByLine ? k_.add(high_, low_) : high_,
                 from.isByLine ? middle_ : k_.add(middle_, low_));
  }
  Numbers words(const Staged &from, Value line, int64_t term, Value lines, Value terms) {
    Value l = k_.add(line, lines), t = k_.add(terms, k_.constant(term));
    Value across = from.isByLine ? l : t, along = from.isByLine ? t : l;
    return k_.loadMatrices(stage_, k_.add(from.first, k_.add(k_.mul(across, from.stride), along)),
                           element_,
                           /*isTransposed=*/!from.isByLine);
  }

  // The sums of a tile, the first of which has this number, += left * right.
  void accumulate(Numbers &sums, size_t first, ValueRange left, ValueRange right) {
    Value *of[] = {&sums[first], &sums[first + 1], &sums[first + kPerThread],
                   &sums[first + kPerThread + 1]};
    Numbers next = k_.multiplyMatrices(left, right, {*of[0], *of[1], *of[2], *of[3]}, element_);
    for (auto [sum, value] : llvm::zip(of, next))
      *sum = value;
  }

  Value firstRow_, firstColumn_; // of the warp
  Value row_, column_;           // the thread's first
  Value high_, middle_, low_;    // 8 (lane/16), 8 (lane/8%2), lane%8
};

// Thread t has the rows t/16 + 16 i and the columns t%16 + 16 j.
class FmaProduct : public GpuProduct {
public:
  FmaProduct(GpuKernel &kernel, int64_t blocks)
      : GpuProduct(kernel, blocks, kernel.builder().getF32Type()) {
    SmallVector<Value> at = k_.delinearize(thread_, {kSpread, kSpread});
    row_ = at[0], column_ = at[1];
  }

protected:
  Value row(int i) override { return k_.add(row_, k_.constant(i * kSpread)); }
  Value column(int j) override { return k_.add(column_, k_.constant(j * kSpread)); }

  Numbers addChunk(ValueRange sums, const Staged &left, const Staged &right) override {
    return k_.fold(k_.constant(0), k_.constant(chunk_), 1, sums,
                   [&](Value term, ValueRange before) {
                     Numbers rows, columns, next;
                     for (int i = 0; i < kPerThread; ++i) {
                       rows.push_back(load(left, row(i), term));
                       columns.push_back(load(right, column(i), term));
                     }
                     for (int i = 0; i < kPerThread; ++i)
                       for (int j = 0; j < kPerThread; ++j)
                         next.push_back(math::FmaOp::create(b_, k_.loc(), rows[i], columns[j],
                                                            before[i * kPerThread + j]));
                     return next;
                   });
  }

private:
  static constexpr int kSpread = 16; // threads along a side

  Value load(const Staged &from, Value line, Value term) {
    Value across = from.isByLine ? line : term, along = from.isByLine ? term : line;
    return k_.loadFrom(stage_, k_.add(from.first, k_.add(k_.mul(across, from.stride), along)),
                       element_);
  }

  Value row_, column_; // the thread's first
};

} // namespace

std::unique_ptr<GpuProduct> GpuProduct::create(GpuKernel &kernel, int64_t blocks, Type element) {
  if (element.getIntOrFloatBitWidth() == 16)
    return std::make_unique<MmaProduct>(kernel, blocks, element);
  return std::make_unique<FmaProduct>(kernel, blocks);
}

} // namespace cleave::codegen
