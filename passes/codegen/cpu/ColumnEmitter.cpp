// The nest of kind Columns: accumulates several rows at a time into a range of columns.
#include "passes/codegen/cpu/CpuGroupEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace cleave::codegen {

namespace {
constexpr int64_t kBlockColumns = 4096; // accumulators in use at a time: 16 KiB of f32
constexpr int64_t kRowsAtOnce = 4;      // so that accumulators are read and written less often
} // namespace

void CpuGroupEmitter::emitColumns() {
  planPasses();
  int64_t columns = nest_.sizes[nest_.inner];
  auto blocks = [&](Value from, Value to) {
    if (columns <= kBlockColumns)
      return emitColumnRange(from, to, columns);
    k_.loop(from, to, kBlockColumns, [&](Value first) {
      Value end = k_.add(first, k_.constant(kBlockColumns));
      emitColumnRange(first, arith::MinSIOp::create(k_.builder(), k_.loc(), end, to),
                      kBlockColumns);
    });
  };
  if (!nest_.outer.empty())
    return outerLoop([&] { blocks(k_.constant(0), k_.constant(columns)); });
  k_.parts(nest_.extent(), [&](Value begin, Value end) {
    Value last = k_.smaller(k_.mul(end, kColumnUnit), columns);
    blocks(k_.mul(begin, kColumnUnit), last);
  });
}

void CpuGroupEmitter::emitColumnRange(Value from, Value to, int64_t width) {
  Pass &pass = passes_.front();
  SmallVector<Value> scratch;
  auto column = [&](Value index) {
    return Value(arith::SubIOp::create(k_.builder(), k_.loc(), index, from));
  };
  for (graph::ReduceOp reduce : pass.reductions)
    scratch.push_back(cpu_.scratch(width, k_.wideType(graph::elementTypeOf(reduce.getOperand()))));
  k_.loop(from, to, 1, [&](Value index) {
    for (auto [reduce, accumulators] : llvm::zip(pass.reductions, scratch)) {
      graph::ReduceOp op = reduce;
      Type wide = k_.wideType(graph::elementTypeOf(op.getOperand()));
      k_.storeTo(k_.neutral(op.getKind(), wide), accumulators, column(index));
    }
  });
  accumulateColumns(from, to, scratch);
  auto isWhole = [&](Value value) { return !hasRows(value); };
  Roots whole = resultsThat(isWhole); // those of all rows are stored
  k_.loop(from, to, 1, [&](Value index) {
    index_[nest_.inner] = index;
    inner_.clear();
    for (auto [reduce, accumulators] : llvm::zip(pass.reductions, scratch)) {
      graph::ReduceOp op = reduce;
      Type element = graph::elementTypeOf(op.getResult());
      Value sum = k_.loadFrom(accumulators, column(index), k_.wideType(element));
      inner_[op.getResult()] = asStored(op.getResult(), sum);
    }
    emitInner(whole);
    storeResults(isWhole);
    inner_.clear();
  });
}

// Loops over all reduced factors, over the innermost one in steps of several rows.
void CpuGroupEmitter::accumulateColumns(Value from, Value to, ArrayRef<Value> scratch) {
  std::function<void(size_t)> nest = [&](size_t depth) {
    int factor = nest_.reduced[depth];
    int64_t size = nest_.sizes[factor], whole = size - size % kRowsAtOnce;
    if (depth + 1 < nest_.reduced.size())
      return k_.loop(k_.constant(0), k_.constant(size), 1, [&](Value row) {
        index_[factor] = row;
        nest(depth + 1);
      });
    if (whole > 0)
      k_.loop(k_.constant(0), k_.constant(whole), kRowsAtOnce,
              [&](Value row) { accumulateRows(row, kRowsAtOnce, from, to, scratch); });
    if (whole < size)
      k_.loop(k_.constant(whole), k_.constant(size), 1,
              [&](Value row) { accumulateRows(row, 1, from, to, scratch); });
  };
  nest(0);
}

void CpuGroupEmitter::accumulateRows(Value row, int64_t rows, Value from, Value to,
                                     ArrayRef<Value> scratch) {
  Pass &pass = passes_.front();
  int factor = nest_.reduced.back();
  Roots roots;
  for (graph::ReduceOp reduce : pass.reductions)
    roots.push_back(reduce.getOperand());
  for (Value value : results())
    if (hasRows(value))
      roots.push_back(value);
  k_.loop(from, to, 1, [&](Value index) {
    index_[nest_.inner] = index;
    SmallVector<Value> sums(pass.reductions.size());
    for (int64_t r = 0; r < rows; ++r) {
      index_[factor] = r == 0 ? row : k_.add(row, k_.constant(r));
      inner_.clear();
      emitInner(roots);
      storeResults([&](Value value) { return hasRows(value); });
      for (auto [sum, reduce] : llvm::zip(sums, pass.reductions)) {
        graph::ReduceOp op = reduce;
        Value value = valueOf(op.getOperand());
        Type element = graph::elementTypeOf(op.getOperand());
        sum = sum ? k_.combine(op.getKind(), element, sum, value) : value;
      }
    }
    Value column = arith::SubIOp::create(k_.builder(), k_.loc(), index, from);
    for (auto [sum, reduce, accumulators] : llvm::zip(sums, pass.reductions, scratch)) {
      graph::ReduceOp op = reduce;
      Type element = graph::elementTypeOf(op.getOperand());
      Value before = k_.loadFrom(accumulators, column, k_.wideType(element));
      k_.storeTo(k_.combine(op.getKind(), element, before, sum), accumulators, column);
    }
    inner_.clear();
  });
}

} // namespace cleave::codegen
