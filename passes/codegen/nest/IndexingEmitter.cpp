// Loops over the chosen rows of a gather, and over the rows or columns of a scatter's result.
#include "passes/codegen/nest/IndexingEmitter.h"

#include "dialects/graph/Pointwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace cleave::codegen {

// Points of a fine-grained scatter that keep a GPU busy.
static constexpr int64_t kFinePoints = 1 << 16;

Table tableOf(Value table, Value indices, int64_t dim, int64_t batch) {
  Table t;
  for (auto [d, size] : llvm::enumerate(graph::staticShapeOf(table))) {
    auto at = static_cast<int64_t>(d);
    (at < batch ? t.batch : at < dim ? t.outer : at == dim ? t.rows : t.inner) *= size;
  }
  std::vector<int64_t> chosen = graph::staticShapeOf(indices);
  for (int64_t size : llvm::drop_begin(chosen, batch))
    t.indices *= size;
  t.element = graph::elementTypeOf(table);
  t.indexElement = graph::elementTypeOf(indices);
  return t;
}

static Value divide(KernelBuilder &k, Value value, int64_t divisor) {
  if (divisor == 1)
    return value;
  return arith::DivUIOp::create(k.builder(), k.loc(), value, k.constant(divisor));
}

Value loadIndex(KernelBuilder &k, const Table &t, int64_t argument, Value o, Value i) {
  Value position = t.batch == 1 ? i : k.add(k.mul(divide(k, o, t.outer), t.indices), i);
  Value index = k.load(argument, position, t.indexElement);
  return graph::buildCast(k.builder(), k.loc(), index, t.indexElement, k.builder().getI64Type());
}

Value isBetween(KernelBuilder &k, Value index, Value from, Value to) {
  OpBuilder &b = k.builder();
  Value above = arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::sge, index, from);
  Value below = arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::slt, index, to);
  return arith::AndIOp::create(b, k.loc(), above, below);
}

namespace {

void emitGather(KernelBuilder &k, const Table &t, int64_t table, int64_t indices, int64_t result) {
  OpBuilder &b = k.builder();
  forEachRow(k, t.batch * t.outer * t.indices, t.inner, [&](Value row, const ForEach &elements) {
    SmallVector<Value> at = k.delinearize(row, {t.batch * t.outer, t.indices});
    Value index = loadIndex(k, t, indices, at[0], at[1]);
    if (t.rows == 0) // any index is out of range, and there is no row to read instead
      return elements(
          [&](Value i) { k.store(k.scalar(t.element, 0), result, k.add(k.mul(row, t.inner), i)); });
    Value valid = isBetween(k, index, k.constant(0), k.constant(t.rows));
    Value safe = arith::SelectOp::create(b, k.loc(), valid, index, k.constant(0));
    Value from = k.mul(k.add(k.mul(at[0], t.rows), safe), t.inner), to = k.mul(row, t.inner);
    elements([&](Value i) {
      Value element = k.load(table, k.add(from, i), t.element);
      Value zero = k.scalar(t.element, 0);
      k.store(arith::SelectOp::create(b, k.loc(), valid, element, zero), result, k.add(to, i));
    });
  });
}

class ScatterEmitter {
public:
  ScatterEmitter(KernelBuilder &k, const Table &t, graph::Reduction kind, int64_t updates,
                 int64_t indices, int64_t result)
      : k_(k), t_(t), kind_(kind), updates_(updates), indices_(indices), result_(result) {}

  // Every part writes blocks of [batch, outer] or, if there are few blocks, rows of all blocks.
  void emit() {
    int64_t blocks = t_.batch * t_.outer;
    if (k_.grain() == Grain::Fine)
      return emitFine(blocks);
    if (blocks >= 16)
      return k_.points(blocks,
                       [&](Value o) { emitBlock(o, k_.constant(0), k_.constant(t_.rows)); });
    k_.parts(t_.rows, [&](Value from, Value to) {
      k_.loop(k_.constant(0), k_.constant(blocks), 1, [&](Value o) { emitBlock(o, from, to); });
    });
  }

private:
  // A point is one column of a range of rows of one block.
  void emitFine(int64_t blocks) {
    int64_t wanted = llvm::divideCeil(kFinePoints, std::max<int64_t>(blocks * t_.inner, 1));
    int64_t ranges = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(t_.rows, 1));
    int64_t length = llvm::divideCeil(t_.rows, ranges);
    k_.points(blocks * ranges * t_.inner, [&](Value point) {
      SmallVector<Value> at = k_.delinearize(point, {blocks, ranges, t_.inner});
      Value from = k_.smaller(k_.mul(at[1], length), t_.rows);
      column_ = at[2];
      emitBlock(at[0], from, k_.smaller(k_.add(from, k_.constant(length)), t_.rows));
    });
  }

  // Calls `body` for the columns of a point.
  void columns(const KernelBuilder::Body &body) {
    column_ ? body(column_) : k_.loop(k_.constant(0), k_.constant(t_.inner), 1, body);
  }

  // The rows [from, to) of one block.
  void emitBlock(Value o, Value from, Value to) {
    Value first = k_.mul(o, t_.rows);
    clear(k_.add(first, from), k_.add(first, to));
    k_.loop(k_.constant(0), k_.constant(t_.indices), 1, [&](Value i) {
      Value index = loadIndex(k_, t_, indices_, o, i);
      k_.when(isBetween(k_, index, from, to), [&] {
        addRow(k_.mul(k_.add(k_.mul(o, t_.indices), i), t_.inner),
               k_.mul(k_.add(first, index), t_.inner));
      });
    });
  }

  // Sets the rows [from, to) of all blocks to the neutral element.
  void clear(Value from, Value to) {
    auto store = [&](Value i) { k_.store(k_.neutral(kind_, t_.element), result_, i); };
    if (!column_)
      return k_.loop(k_.mul(from, t_.inner), k_.mul(to, t_.inner), 1, store);
    k_.loop(from, to, 1, [&](Value row) { store(k_.add(k_.mul(row, t_.inner), column_)); });
  }

  void addRow(Value from, Value to) {
    columns([&](Value i) {
      Value before = k_.widen(k_.load(result_, k_.add(to, i), t_.element));
      Value update = k_.widen(k_.load(updates_, k_.add(from, i), t_.element));
      Value sum = k_.combine(kind_, t_.element, before, update);
      k_.store(k_.narrow(sum, t_.element), result_, k_.add(to, i));
    });
  }

  KernelBuilder &k_;
  const Table &t_;
  graph::Reduction kind_;
  int64_t updates_, indices_, result_;
  Value column_; // of a fine point
};

} // namespace

void emitIndexing(KernelBuilder &k, program::KernelOp kernel) {
  Operation &op = kernel.getComputation();
  int64_t operand = kernel.getOperandView(0).getBuffer(),
          indices = kernel.getOperandView(1).getBuffer();
  int64_t result = kernel.getResultView(0).getBuffer();
  if (auto gather = dyn_cast<graph::GatherOp>(op)) {
    Table t = tableOf(gather.getOperand(), gather.getIndices(), gather.getDim(), gather.getBatch());
    return emitGather(k, t, operand, indices, result);
  }
  auto scatter = cast<graph::ScatterOp>(op);
  Table t =
      tableOf(scatter.getResult(), scatter.getIndices(), scatter.getDim(), scatter.getBatch());
  ScatterEmitter(k, t, scatter.getKind(), operand, indices, result).emit();
}

} // namespace cleave::codegen
