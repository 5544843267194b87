// Few indices leave nothing to share: these scatters are emitted as for all targets.
#include "passes/codegen/gpu/GpuScatter.h"

#include "passes/codegen/nest/IndexingEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace cleave::codegen {

namespace {

constexpr int64_t kManyIndices = 256;
constexpr int64_t kBlocks = 768;  // wanted: six on each of 128 multiprocessors, all at once
constexpr int64_t kPerThread = 8; // indices of a tile
constexpr int64_t kTogether = 4;  // updates of which the loads are in flight together
constexpr int64_t kVectorBytes = 16;

class ScatterEmitter {
public:
  ScatterEmitter(GpuKernel &k, const Table &t, graph::Reduction kind, int64_t updates,
                 int64_t indices, int64_t result)
      : k_(k), b_(k.builder()), t_(t), kind_(kind), updates_(updates), indices_(indices),
        result_(result) {}

  void emit() {
    chooseSizes();
    SmallVector<Value> at = k_.delinearize(k_.block(), {t_.batch * t_.outer, ranges_, parts_});
    table_ = at[0];
    from_ = k_.smaller(k_.mul(at[1], length_), t_.rows);
    to_ = k_.smaller(k_.add(from_, k_.constant(length_)), t_.rows);
    firstVector_ = k_.mul(at[2], threads_);
    thread_ = k_.thread();
    positions_ = k_.shared(tile_, b_.getI32Type());
    rows_ = k_.shared(tile_, b_.getI32Type());
    counts_ = k_.shared(threads_ / kWarp, b_.getI32Type());
    clear();
    k_.loop(k_.constant(0), k_.constant(t_.indices), tile_, [&](Value first) {
      k_.barrier(); // the list of the tile before is read, the rows are cleared
      addListed(list(first));
    });
  }

private:
  void chooseSizes() {
    int64_t bytes = std::max<int64_t>(1, t_.element.getIntOrFloatBitWidth() / 8);
    for (width_ = static_cast<int>(kVectorBytes / bytes); t_.inner % width_ != 0;)
      width_ /= 2;
    int64_t tables = t_.batch * t_.outer;
    vectors_ = t_.inner / width_;
    threads_ = std::clamp<int64_t>(llvm::alignTo(vectors_, kWarp), kThreads / 2, kThreads);
    parts_ = llvm::divideCeil(vectors_, threads_);
    length_ = std::max<int64_t>(1, t_.rows * tables * parts_ / kBlocks);
    ranges_ = llvm::divideCeil(t_.rows, length_);
    tile_ = threads_ * kPerThread;
    k_.setLaunch({tables * ranges_ * parts_, static_cast<int>(threads_)});
  }

  Value word(int64_t value) {
    return arith::ConstantOp::create(b_, k_.loc(), b_.getI32IntegerAttr(value));
  }
  Value toWord(Value index) {
    return arith::TruncIOp::create(b_, k_.loc(), b_.getI32Type(), index);
  }
  Value toIndex(Value word) { return arith::ExtUIOp::create(b_, k_.loc(), b_.getI64Type(), word); }
  Value addWords(Value a, Value b) { return arith::AddIOp::create(b_, k_.loc(), a, b); }

  // The address of a vector of the table's row.
  Value inResult(Value row, Value vector) {
    Value line = k_.add(k_.mul(table_, t_.rows), row);
    return k_.add(k_.mul(line, t_.inner), k_.mul(vector, width_));
  }

  void clear() {
    int64_t columns = std::min(vectors_, threads_);
    Value count = k_.mul(arith::SubIOp::create(b_, k_.loc(), to_, from_), columns);
    SmallVector<Value> neutral(width_, k_.neutral(kind_, t_.element));
    k_.loop(thread_, count, threads_, [&](Value number) {
      Value row = arith::DivUIOp::create(b_, k_.loc(), number, k_.constant(columns));
      Value column = arith::RemUIOp::create(b_, k_.loc(), number, k_.constant(columns));
      Value vector = k_.add(firstVector_, column);
      auto store = [&] { k_.storeVector(neutral, result_, inResult(k_.add(from_, row), vector)); };
      vectors_ % threads_ &&parts_ > 1 ? k_.when(k_.isBelow(vector, vectors_), store) : store();
    });
  }

  // Lists the indices of a tile that lie in the block's rows; returns how many.
  Value list(Value first) {
    SmallVector<Value> positions, rows, isListed;
    Value count = word(0);
    for (int64_t i = 0; i < kPerThread; ++i) {
      Value position = k_.add(first, k_.add(k_.mul(thread_, kPerThread), k_.constant(i)));
      Value exists = k_.isBelow(position, t_.indices);
      Value index =
          k_.guarded(exists, [&] { return loadIndex(k_, t_, indices_, table_, position); });
      Value row = arith::SubIOp::create(b_, k_.loc(), index, from_);
      isListed.push_back(k_.both(exists, isBetween(k_, index, from_, to_)));
      positions.push_back(toWord(position));
      rows.push_back(toWord(row));
      count = addWords(count, arith::ExtUIOp::create(b_, k_.loc(), b_.getI32Type(), isListed[i]));
    }
    auto [place, total] = placesOf(count);
    for (int64_t i = 0; i < kPerThread; ++i) {
      k_.when(isListed[i], [&] {
        k_.storeTo(positions[i], positions_, toIndex(place));
        k_.storeTo(rows[i], rows_, toIndex(place));
      });
      place = addWords(place, arith::ExtUIOp::create(b_, k_.loc(), b_.getI32Type(), isListed[i]));
    }
    k_.barrier();
    return toIndex(total);
  }

  // The sum of `count` over the threads before this one, and over all.
  std::pair<Value, Value> placesOf(Value count) {
    SmallVector<Value> at = k_.delinearize(thread_, {threads_ / kWarp, kWarp});
    Value before = word(0), total = count;
    for (int mask = 1; mask < kWarp; mask *= 2) {
      Value other = k_.shuffle(total, mask);
      Value isAfter = arith::CmpIOp::create(
          b_, k_.loc(), arith::CmpIPredicate::ne,
          arith::AndIOp::create(b_, k_.loc(), toWord(at[1]), word(mask)), word(0));
      before = addWords(before, k_.choose(isAfter, other, word(0)));
      total = addWords(total, other);
    }
    k_.when(k_.isBelow(at[1], 1), [&] { k_.storeTo(total, counts_, at[0]); });
    k_.barrier();
    Value all = word(0);
    for (int64_t warp = 0; warp < threads_ / kWarp; ++warp) {
      Value counted = k_.loadFrom(counts_, k_.constant(warp), b_.getI32Type());
      Value isBefore =
          arith::CmpIOp::create(b_, k_.loc(), arith::CmpIPredicate::ugt, at[0], k_.constant(warp));
      before = addWords(before, k_.choose(isBefore, counted, word(0)));
      all = addWords(all, counted);
    }
    return {before, all};
  }

  // Adds the first `count` updates of the list.
  void addListed(Value count) {
    Value vector = k_.add(firstVector_, thread_);
    Value end = vectors_ % threads_ ? k_.choose(k_.isBelow(vector, vectors_), count, k_.constant(0))
                                    : count;
    k_.loop(k_.constant(0), end, kTogether, [&](Value first) {
      SmallVector<Value> exist, updates;
      for (int64_t i = 0; i < kTogether; ++i) {
        Value number = k_.add(first, k_.constant(i));
        exist.push_back(
            arith::CmpIOp::create(b_, k_.loc(), arith::CmpIPredicate::ult, number, end));
        updates.push_back(k_.guarded(exist[i], [&] {
          Value position = toIndex(k_.loadFrom(positions_, number, b_.getI32Type()));
          Value line = k_.add(k_.mul(table_, t_.indices), position);
          Value address = k_.add(k_.mul(line, t_.inner), k_.mul(vector, width_));
          return k_.loadVector(updates_, address, t_.element, width_);
        }));
      }
      for (int64_t i = 0; i < kTogether; ++i)
        k_.when(exist[i], [&] {
          Value row = toIndex(k_.loadFrom(rows_, k_.add(first, k_.constant(i)), b_.getI32Type()));
          add(updates[i], inResult(k_.add(from_, row), vector));
        });
    });
  }

  void add(Value update, Value address) {
    Value before = k_.loadVector(result_, address, t_.element, width_);
    SmallVector<Value> sums;
    for (int lane = 0; lane < width_; ++lane) {
      Value sum = k_.combine(kind_, t_.element, k_.widen(k_.elementOf(before, lane, t_.element)),
                             k_.widen(k_.elementOf(update, lane, t_.element)));
      sums.push_back(k_.narrow(sum, t_.element));
    }
    k_.storeVector(sums, result_, address);
  }

  GpuKernel &k_;
  OpBuilder &b_;
  const Table &t_;
  graph::Reduction kind_;
  int64_t updates_, indices_, result_;
  int width_ = 1;           // elements of a vector
  int64_t vectors_ = 0;     // of a row
  int64_t threads_ = 0;     // of a block
  int64_t parts_ = 0;       // blocks that share a row
  int64_t length_ = 0;      // rows of a block
  int64_t ranges_ = 0;      // blocks that share a table
  int64_t tile_ = 0;        // indices
  Value table_, from_, to_; // of the block: the table, and its rows in it
  Value firstVector_, thread_;
  Value positions_, rows_, counts_; // shared memory: the list, and its length per warp
};

} // namespace

void emitScatter(GpuKernel &k, program::KernelOp kernel) {
  auto scatter = cast<graph::ScatterOp>(kernel.getComputation());
  Table t =
      tableOf(scatter.getResult(), scatter.getIndices(), scatter.getDim(), scatter.getBatch());
  if (t.indices < kManyIndices || t.rows * t.inner == 0)
    return emitIndexing(k, kernel);
  ScatterEmitter(k, t, scatter.getKind(), kernel.getOperandView(0).getBuffer(),
                 kernel.getOperandView(1).getBuffer(), kernel.getResultView(0).getBuffer())
      .emit();
}

} // namespace cleave::codegen
