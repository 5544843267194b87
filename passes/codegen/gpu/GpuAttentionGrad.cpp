// The blocks of keys are the first ones, as each of them visits the queries of several heads.
// delta, the products of rows of `grad` and `result`, is recomputed in each of them: it costs
// less than a tile's product, and needs no memory.
#include "passes/codegen/gpu/GpuAttentionGrad.h"

#include "passes/codegen/gpu/GpuScores.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;

namespace cleave::codegen {

namespace {

class AttentionGradEmitter {
public:
  AttentionGradEmitter(GpuKernel &k, program::KernelOp kernel, graph::AttentionGradOp op)
      : k_(k), b_(k.builder()), f32_(b_.getF32Type()), op_(op),
        scores_(k, kernel, graph::AttentionScores(op)),
        keyBlocks_(llvm::product_of(scores_.groups()) * GpuTiles::tilesOf(scores_.keys())),
        queryBlocks_(llvm::product_of(scores_.heads()) * GpuTiles::tilesOf(scores_.queries())),
        made_(GpuTiles::create(k, keyBlocks_ + queryBlocks_, graph::elementTypeOf(op.getQuery()),
                               scores_.columns(), /*side=*/32)),
        tiles_(*made_), rows_(tiles_.rowCount()), columns_(tiles_.columnCount(tiles_.side())),
        lse_(tiles_.newLine()), delta_(tiles_.newLine()) {
    k.setResident(scores_.isNarrow() ? 3 : 0); // 168 registers of a thread
  }

  void emit() {
    Value block = k_.block();
    k_.either(
        k_.isBelow(block, keyBlocks_), {},
        [&]() -> SmallVector<Value> {
          emitKeys(block);
          return {};
        },
        [&]() -> SmallVector<Value> {
          emitQueries(k_.add(block, k_.constant(-keyBlocks_)));
          return {};
        });
  }

private:
  // The matrices of a head and its group.
  struct Head {
    Matrix query, key, value, result, lse, grad;
  };

  Value number(double value) { return k_.scalar(f32_, value); }
  Value product(Value x, Value y) { return arith::MulFOp::create(b_, k_.loc(), x, y); }
  Value difference(Value x, Value y) { return arith::SubFOp::create(b_, k_.loc(), x, y); }
  Value compare(arith::CmpFPredicate predicate, Value x, double y) {
    return arith::CmpFOp::create(b_, k_.loc(), predicate, x, number(y));
  }

  Head select(ArrayRef<Value> head) {
    scores_.select(head);
    SmallVector<Value> group = scores_.group();
    return {scores_.operand(op_.getQuery(), head),  scores_.operand(op_.getKey(), group),
            scores_.operand(op_.getValue(), group), scores_.operand(op_.getResult(), head),
            scores_.operand(op_.getLse(), head),    scores_.operand(op_.getGrad(), head)};
  }

  // -- a block of queries -------------------------------------------------------------------------

  void emitQueries(Value block) {
    SmallVector<int64_t> sizes(scores_.heads());
    sizes.push_back(GpuTiles::tilesOf(scores_.queries()));
    SmallVector<Value> at = k_.delinearize(block, sizes);
    // The last queries of a causal attention have the most work, so they come first.
    Value tile = arith::SubIOp::create(b_, k_.loc(), k_.constant(sizes.back() - 1), at.back());
    Value first = k_.mul(tile, kTileRows);
    ArrayRef<Value> index = ArrayRef(at).drop_back();
    Head head = select(index);
    readLse(head, first);
    readDelta(head, first, kTileRows);
    Value end = k_.constant(scores_.keys()); // keys that are not visible have no part in it
    if (scores_.form().causal)
      end = k_.smaller(scores_.causalIndex(k_.add(first, k_.constant(kTileRows))), scores_.keys());
    GpuTiles::Left queries = tiles_.keepInRegisters({head.query, first});
    GpuTiles::Left grad = tiles_.keepInMemory({head.grad, first});
    SmallVector<Value> sums =
        k_.fold(k_.constant(0), end, tiles_.side(), tiles_.zeros(head.query.columns),
                [&](Value key, ValueRange carried) {
                  tiles_.bring({head.key, key}, {head.value, key});
                  GpuTiles::Numbers scores = tiles_.multiply(queries, 0);
                  GpuTiles::Numbers grads = tiles_.multiply(grad, 1);
                  toGradients(scores, grads, first, key, /*hasQueryRows=*/true);
                  return tiles_.addProduct(carried, grads, 0);
                });
    tiles_.store(sums, scores_.result(0, index), first, scores_.form().scale);
  }

  // The keys of a block and their values, as left factors.
  struct Keys {
    Value first;
    GpuTiles::Left keys, values;
  };

  // -- a block of keys ----------------------------------------------------------------------------

  void emitKeys(Value block) {
    SmallVector<int64_t> sizes = scores_.groups();
    sizes.push_back(GpuTiles::tilesOf(scores_.keys()));
    SmallVector<Value> at = k_.delinearize(block, sizes);
    Value first = k_.mul(at.back(), kTileRows);
    SmallVector<Value> group = llvm::to_vector(llvm::drop_end(at));
    Keys keys{first, tiles_.keepInRegisters({scores_.operand(op_.getKey(), group), first}),
              tiles_.keepInMemory({scores_.operand(op_.getValue(), group), first})};
    const int64_t width = graph::staticShapeOf(op_.getKey()).back(),
                  depth = graph::staticShapeOf(op_.getValue()).back();
    SmallVector<Value> sums = tiles_.zeros(width);
    const size_t keySums = sums.size();
    append_range(sums, tiles_.zeros(depth));
    sums = k_.fold(k_.constant(0), k_.constant(scores_.perGroup()), 1, sums,
                   [&](Value member, ValueRange carried) {
                     SmallVector<Value> index(group);
                     index.back() = k_.add(k_.mul(index.back(), scores_.perGroup()), member);
                     return visitQueries(select(index), keys, carried, keySums);
                   });
    ArrayRef<Value> all(sums);
    tiles_.store(all.take_front(keySums), scores_.result(1, group), first, scores_.form().scale);
    tiles_.store(all.drop_front(keySums), scores_.result(2, group), first, 1);
  }

  SmallVector<Value> visitQueries(const Head &head, const Keys &keys, ValueRange sums,
                                  size_t keySums) {
    const bool isCausal = scores_.form().causal;
    Value from = k_.constant(0);
    if (isCausal && scores_.isFillInfinite()) { // the tile of the first query that sees a key
      Value query =
          arith::SubIOp::create(b_, k_.loc(), keys.first, scores_.causalIndex(k_.constant(0)));
      query = arith::MaxSIOp::create(b_, k_.loc(), query, k_.constant(0));
      from = k_.mul(arith::DivUIOp::create(b_, k_.loc(), query, k_.constant(tiles_.side())),
                    tiles_.side());
    }
    return k_.fold(from, k_.constant(scores_.queries()), tiles_.side(), sums,
                   [&](Value query, ValueRange carried) {
                     readLse(head, query);
                     if (!isCausal || scores_.isFillInfinite())
                       return addQueries(head, keys, query, carried, keySums);
                     return k_.either(
                         isNeeded(keys.first, query), carried.getTypes(),
                         [&] { return addQueries(head, keys, query, carried, keySums); },
                         [&] { return llvm::to_vector(carried); });
                   });
  }

  // Whether any of the queries sees any of the keys, or gives keys that it does not see a weight.
  Value isNeeded(Value key, Value query) {
    Value last = scores_.causalIndex(k_.add(query, k_.constant(tiles_.side() - 1)));
    Value isSeen = arith::CmpIOp::create(b_, k_.loc(), arith::CmpIPredicate::sle, key, last);
    return k_.either(
        isSeen, {b_.getI1Type()}, [&]() -> SmallVector<Value> { return {isSeen}; },
        [&]() -> SmallVector<Value> {
          k_.barrier();
          return {tiles_.anyOf(lse_, [&](Value lse) { return fillCounts(lse); })};
        })[0];
  }

  // Whether a score that is not visible has a weight in a query.
  Value fillCounts(Value lse) {
    constexpr double kNothing = -87;
    Value below = difference(number(scores_.form().fillValue()), lse);
    Value isNothing = k_.both(compare(arith::CmpFPredicate::OGT, lse, -kInfinity),
                              compare(arith::CmpFPredicate::OLT, below, kNothing));
    return k_.choose(isNothing, k_.scalar(b_.getI1Type(), 0), k_.scalar(b_.getI1Type(), 1));
  }

  SmallVector<Value> addQueries(const Head &head, const Keys &keys, Value query, ValueRange sums,
                                size_t keySums) {
    readDelta(head, query, tiles_.side());
    tiles_.bring({head.query, query}, {head.grad, query});
    GpuTiles::Numbers weights = tiles_.multiply(keys.keys, 0);
    GpuTiles::Numbers grads = tiles_.multiply(keys.values, 1);
    toGradients(weights, grads, query, keys.first, /*hasQueryRows=*/false);
    SmallVector<Value> valueSums = tiles_.addProduct(sums.drop_front(keySums), weights, 1);
    SmallVector<Value> next = tiles_.addProduct(sums.take_front(keySums), grads, 0);
    append_range(next, valueSums);
    return next;
  }

  // -- tiles --------------------------------------------------------------------------------------

  Value placeOf(const Matrix &matrix, Value row, Value column) {
    Value place = k_.add(k_.mul(row, matrix.rowStride), k_.mul(column, matrix.columnStride));
    return k_.add(matrix.origin, place);
  }

  // The log-sum-exp of the queries from `first` on; plus infinity, a weight of 0, where there is no
  // query.
  void readLse(const Head &head, Value first) {
    k_.barrier(); // the one before may still be read
    for (int i = 0; i < rows_; ++i)
      k_.when(tiles_.isFirst(), [&] {
        Value query = k_.add(first, tiles_.row(i)), exists = tiles_.exists(query, head.lse.rows);
        Value lse = k_.guarded(exists, [&] {
          return k_.load(head.lse.argument, placeOf(head.lse, query, k_.constant(0)), f32_);
        });
        k_.storeTo(k_.choose(exists, lse, number(kInfinity)), lse_, tiles_.row(i));
      });
  }

  // delta of `count` queries from `first` on.
  void readDelta(const Head &head, Value first, int count) {
    for (int i = 0; i < rows_; ++i) {
      Value query = k_.add(first, tiles_.row(i));
      Value columns = k_.constant(head.grad.columns);
      Value isWanted = k_.both(count < kTileRows ? k_.isBelow(tiles_.row(i), count) : Value(),
                               tiles_.exists(query, head.grad.rows));
      columns = k_.choose(isWanted, columns, k_.constant(0));
      const int64_t vector = std::min(head.grad.vector, head.result.vector);
      Value part = k_.fold(k_.mul(tiles_.lane(), vector), columns, vector * tiles_.lanesPerRow(),
                           number(0), [&](Value column, ValueRange before) -> SmallVector<Value> {
                             return {addProducts(head, query, column, vector, before[0])};
                           })[0];
      Value sum = tiles_.acrossRow(part, [&](Value x, Value y) -> Value {
        return arith::AddFOp::create(b_, k_.loc(), x, y);
      });
      k_.when(tiles_.isFirst(), [&] { k_.storeTo(sum, delta_, tiles_.row(i)); });
    }
  }

  // Adds the products of neighbouring elements of a row of `grad` and `result` to a sum.
  Value addProducts(const Head &head, Value row, Value column, int64_t count, Value sum) {
    auto load = [&](const Matrix &from) {
      Value place = placeOf(from, row, column);
      return count == 1 ? k_.load(from.argument, place, from.element)
                        : k_.loadVector(from.argument, place, from.element, count);
    };
    Value grads = load(head.grad), results = load(head.result);
    for (int i = 0; i < count; ++i) {
      auto element = [&](Value loaded) {
        return k_.widen(count == 1 ? loaded : k_.elementOf(loaded, i, head.grad.element));
      };
      sum = math::FmaOp::create(b_, k_.loc(), element(grads), element(results), sum);
    }
    return sum;
  }

  // `products` of query and key become the dropped weights, `grads` (the gradients of the dropped
  // weights) the gradients of the scores. The rows are queries and the columns keys, or conversely.
  void toGradients(GpuTiles::Numbers &products, GpuTiles::Numbers &grads, Value firstQuery,
                   Value firstKey, bool hasQueryRows) {
    for (int i = 0; i < rows_; ++i)
      for (int j = 0; j < columns_; ++j) {
        Value inTile = hasQueryRows ? tiles_.row(i) : tiles_.column(j);
        Value query = k_.add(firstQuery, inTile);
        Value key = k_.add(firstKey, hasQueryRows ? tiles_.column(j) : tiles_.row(i));
        Value &weight = products[i * columns_ + j], &grad = grads[i * columns_ + j];
        GpuScores::Score score = scores_.score(tiles_, weight, query, key);
        weight = weightOf(score.value, k_.loadFrom(lse_, inTile, f32_));
        weight = k_.choose(tiles_.exists(key, scores_.keys()), weight, number(0));
        Value dropped = weight;
        if (scores_.form().drops()) {
          Value factor = scores_.dropFactor(query, key);
          grad = product(grad, factor);
          dropped = product(weight, factor);
        }
        grad = product(weight, difference(grad, k_.loadFrom(delta_, inTile, f32_)));
        grad = k_.choose(score.visible, grad, number(0));
        weight = dropped;
      }
  }

  Value weightOf(Value score, Value lse) {
    Value weight = k_.fastExp(difference(score, lse));
    weight = k_.choose(compare(arith::CmpFPredicate::OEQ, lse, kInfinity), number(0), weight);
    double even = 1 / static_cast<double>(std::max<int64_t>(1, scores_.keys()));
    return k_.choose(compare(arith::CmpFPredicate::OEQ, lse, -kInfinity), number(even), weight);
  }

  GpuKernel &k_;
  OpBuilder &b_;
  Type f32_;
  graph::AttentionGradOp op_;
  GpuScores scores_;
  int64_t keyBlocks_, queryBlocks_;
  std::unique_ptr<GpuTiles> made_;
  GpuTiles &tiles_;
  const int rows_, columns_; // of a thread in a tile of scores
  Value lse_, delta_;        // lines of the current queries
};

} // namespace

void emitAttentionGrad(GpuKernel &k, program::KernelOp kernel, graph::AttentionGradOp op) {
  AttentionGradEmitter(k, kernel, op).emit();
}

} // namespace cleave::codegen
