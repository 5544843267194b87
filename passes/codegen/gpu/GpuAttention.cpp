// The forward kernel keeps a running maximum and sum per query.
#include "passes/codegen/gpu/GpuAttention.h"

#include "passes/codegen/gpu/GpuAttentionGrad.h"
#include "passes/codegen/gpu/GpuScores.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;

namespace cleave::codegen {

namespace {

class AttentionEmitter {
public:
  AttentionEmitter(GpuKernel &k, program::KernelOp kernel, graph::AttentionOp op)
      : k_(k), b_(k.builder()), f32_(b_.getF32Type()), op_(op),
        scores_(k, kernel, graph::AttentionScores(op)),
        made_(GpuTiles::create(
            k, llvm::product_of(scores_.heads()) * GpuTiles::tilesOf(scores_.queries()),
            graph::elementTypeOf(op.getQuery()), scores_.columns(), kTileRows)),
        tiles_(*made_), rows_(tiles_.rowCount()), columns_(tiles_.columnCount(tiles_.side())),
        needed_(visitsHidden() ? tiles_.newLine() : Value()) {
    k.setResident(scores_.isNarrow() ? 4 : 0); // 128 registers of a thread
  }

  void emit() {
    SmallVector<int64_t> sizes(scores_.heads());
    sizes.push_back(GpuTiles::tilesOf(scores_.queries()));
    SmallVector<Value> at = k_.delinearize(k_.block(), sizes);
    // The last queries of a causal attention have the most work, so they come first.
    Value tile = arith::SubIOp::create(b_, k_.loc(), k_.constant(sizes.back() - 1), at.back());
    first_ = k_.mul(tile, kTileRows);
    scores_.select(ArrayRef(at).drop_back());
    const graph::AttentionScores &form = scores_.form();
    SmallVector<Value> head = llvm::to_vector(llvm::drop_end(at)), group = scores_.group();
    query_ = tiles_.keepInRegisters({scores_.operand(form.query, head), first_});
    key_ = scores_.operand(form.key, group);
    value_ = scores_.operand(form.value, group);
    finish(visitKeys(), head);
  }

private:
  // What is known of a thread's queries after some keys. The sums are those of the thread's keys.
  struct Running {
    SmallVector<Value> largest, sum, seen; // per row; seen: 1 if it sees a key, else 0
    GpuTiles::Numbers result;
    SmallVector<Value> all() const {
      SmallVector<Value> all(largest);
      append_range(all, sum);
      append_range(all, seen);
      append_range(all, result);
      return all;
    }
  };

  Value number(double value) { return k_.scalar(f32_, value); }
  Value compare(arith::CmpFPredicate predicate, Value x, double y) {
    return arith::CmpFOp::create(b_, k_.loc(), predicate, x, number(y));
  }
  Value larger(Value x, Value y) {
    Value above = arith::CmpFOp::create(b_, k_.loc(), arith::CmpFPredicate::OGT, x, y);
    return k_.choose(above, x, y);
  }
  Value sum(Value x, Value y) { return arith::AddFOp::create(b_, k_.loc(), x, y); }
  Value product(Value x, Value y) { return arith::MulFOp::create(b_, k_.loc(), x, y); }
  Value exp(Value x, Value base) {
    return k_.fastExp(arith::SubFOp::create(b_, k_.loc(), x, base));
  }

  // Whether keys that a causal mask hides from all queries of a tile can have weights.
  bool visitsHidden() { return scores_.form().causal && !scores_.isFillInfinite(); }
  // Whether it must be known which queries see no key.
  bool notesSeen() { return scores_.hides() && !scores_.isFillInfinite(); }

  Running start() {
    SmallVector<Value> seen(notesSeen() ? rows_ : 0, number(0));
    return {SmallVector<Value>(rows_, number(-kInfinity)), SmallVector<Value>(rows_, number(0)),
            seen, tiles_.zeros(value_.columns)};
  }

  Running unpack(ValueRange all) {
    size_t seen = notesSeen() ? rows_ : 0;
    auto part = [&](size_t from, size_t count) { return llvm::to_vector(all.slice(from, count)); };
    size_t before = 2 * rows_ + seen;
    return {part(0, rows_), part(rows_, rows_), part(2 * rows_, seen),
            part(before, all.size() - before)};
  }

  Running visitKeys() {
    Value sight = k_.constant(scores_.keys());
    if (scores_.form().causal) // the keys that the last query of the tile sees
      sight =
          k_.smaller(scores_.causalIndex(k_.add(first_, k_.constant(kTileRows))), scores_.keys());
    Value end = visitsHidden() ? k_.constant(scores_.keys()) : sight;
    SmallVector<Value> last = k_.fold(
        k_.constant(0), end, tiles_.side(), start().all(), [&](Value key, ValueRange carried) {
          if (!visitsHidden())
            return addKeys(unpack(carried), key).all();
          Value isSeen = arith::CmpIOp::create(b_, k_.loc(), arith::CmpIPredicate::slt, key, sight);
          Value isNeeded = k_.either(
              isSeen, {b_.getI1Type()}, [&]() -> SmallVector<Value> { return {isSeen}; },
              [&]() -> SmallVector<Value> { return {fillCounts(unpack(carried))}; })[0];
          return k_.either(
              isNeeded, ValueRange(carried).getTypes(),
              [&] { return addKeys(unpack(carried), key).all(); },
              [&] { return llvm::to_vector(carried); });
        });
    return unpack(last);
  }

  // Whether a score that is not visible has a weight in any query. A weight is 0 where the score is
  // so much below the largest one.
  Value fillCounts(const Running &running) {
    constexpr double kNothing = -87;
    k_.barrier();
    for (int i = 0; i < rows_; ++i) {
      Value below = arith::SubFOp::create(b_, k_.loc(), number(scores_.form().fillValue()),
                                          running.largest[i]);
      Value counts =
          k_.choose(compare(arith::CmpFPredicate::OLT, below, kNothing), number(0), number(1));
      Value query = k_.add(first_, tiles_.row(i));
      counts = k_.choose(tiles_.exists(query, scores_.queries()), counts, number(0));
      k_.when(tiles_.isFirst(), [&] { k_.storeTo(counts, needed_, tiles_.row(i)); });
    }
    k_.barrier();
    return tiles_.anyOf(needed_, [&](Value x) { return compare(arith::CmpFPredicate::UNE, x, 0); });
  }

  // Adds the keys of a tile, from `key` on.
  Running addKeys(Running running, Value key) {
    tiles_.bring({key_, key}, {value_, key});
    GpuTiles::Numbers weights = tiles_.multiply(query_, 0);
    const int columns = tiles_.columnCount(value_.columns);
    for (int i = 0; i < rows_; ++i) {
      MutableArrayRef<Value> row = MutableArrayRef(weights).slice(i * columns_, columns_);
      toScores(row, running, i, key);
      Value shrunk = toWeights(row, running, i);
      for (int j = 0; j < columns; ++j)
        running.result[i * columns + j] = product(running.result[i * columns + j], shrunk);
      if (scores_.form().drops())
        for (int j = 0; j < columns_; ++j)
          row[j] = product(row[j], scores_.dropFactor(k_.add(first_, tiles_.row(i)),
                                                      k_.add(key, tiles_.column(j))));
    }
    running.result = tiles_.addProduct(running.result, weights, 1);
    return running;
  }

  // Keys that do not exist have a score of minus infinity.
  void toScores(MutableArrayRef<Value> row, Running &running, int i, Value key) {
    Value query = k_.add(first_, tiles_.row(i));
    for (int j = 0; j < columns_; ++j) {
      Value at = k_.add(key, tiles_.column(j));
      GpuScores::Score score = scores_.score(tiles_, row[j], query, at);
      Value exists = tiles_.exists(at, scores_.keys());
      row[j] = k_.choose(exists, score.value, number(-kInfinity));
      if (notesSeen())
        running.seen[i] =
            k_.choose(k_.both(score.visible, score.exists), number(1), running.seen[i]);
    }
  }

  // Turns scores into weights relative to the new largest score. Returns the factor for what was
  // relative to the one before.
  Value toWeights(MutableArrayRef<Value> row, Running &running, int i) {
    Value before = running.largest[i], largest = row[0];
    for (Value score : row.drop_front())
      largest = larger(score, largest);
    largest = tiles_.acrossRow(largest, [&](Value x, Value y) { return larger(x, y); });
    running.largest[i] = largest = larger(largest, before);
    // Without any finite score, exp(score - 0) is 0.
    Value isNone = compare(arith::CmpFPredicate::OEQ, largest, -kInfinity);
    Value base = k_.choose(isNone, number(0), largest);
    Value shrunk = exp(before, base);
    running.sum[i] = product(running.sum[i], shrunk);
    for (Value &weight : row) {
      weight = exp(weight, base);
      running.sum[i] = sum(running.sum[i], weight);
    }
    return shrunk;
  }

  void finish(Running running, ArrayRef<Value> head) {
    Matrix lse = scores_.result(1, head);
    const int columns = tiles_.columnCount(value_.columns);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (int i = 0; i < rows_; ++i) {
      Value total = tiles_.acrossRow(running.sum[i], [&](Value x, Value y) { return sum(x, y); });
      Value hasNone =
          arith::OrIOp::create(b_, k_.loc(), compare(arith::CmpFPredicate::OEQ, total, 0),
                               compare(arith::CmpFPredicate::UNO, total, 0));
      storeLse(running, lse, i, total, hasNone);
      Value factor = arith::DivFOp::create(b_, k_.loc(), number(1), total);
      for (int j = 0; j < columns; ++j) {
        Value &element = running.result[i * columns + j];
        element = k_.choose(hasNone, number(op_.getSafe() ? 0 : nan), product(element, factor));
      }
    }
    tiles_.store(running.result, scores_.result(0, head), first_, 1);
  }

  void storeLse(const Running &running, const Matrix &lse, int i, Value total, Value hasNone) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    Value value = sum(running.largest[i], math::LogOp::create(b_, k_.loc(), total));
    if (notesSeen()) {
      Value seen =
          tiles_.acrossRow(running.seen[i], [&](Value x, Value y) { return larger(x, y); });
      value = k_.choose(compare(arith::CmpFPredicate::OEQ, seen, 0), number(-kInfinity), value);
    }
    value = k_.choose(hasNone, number(op_.getSafe() ? kInfinity : nan), value);
    Value query = k_.add(first_, tiles_.row(i));
    Value isMine = k_.both(tiles_.isFirst(), tiles_.exists(query, scores_.queries()));
    k_.when(isMine, [&] {
      k_.store(value, lse.argument, k_.add(lse.origin, k_.mul(query, lse.rowStride)));
    });
  }

  GpuKernel &k_;
  OpBuilder &b_;
  Type f32_;
  graph::AttentionOp op_;
  GpuScores scores_;
  std::unique_ptr<GpuTiles> made_;
  GpuTiles &tiles_;
  const int rows_, columns_; // of a thread in a tile of scores
  Value needed_;             // a line
  Value first_;              // query of the block
  GpuTiles::Left query_;
  Matrix key_, value_;
};

} // namespace

void emitAttention(GpuKernel &k, program::KernelOp kernel) {
  if (auto op = dyn_cast<graph::AttentionOp>(kernel.getComputation()))
    return AttentionEmitter(k, kernel, op).emit();
  emitAttentionGrad(k, kernel, cast<graph::AttentionGradOp>(kernel.getComputation()));
}

} // namespace cleave::codegen
