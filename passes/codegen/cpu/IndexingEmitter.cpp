// A table is seen as [outer, rows, inner], the gathered rows as [outer, indices, inner].
#include "passes/codegen/cpu/IndexingEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace cleave::codegen {

namespace {

struct Table {
  int64_t outer = 1, rows = 1, inner = 1, indices = 1;
  Type element, indexElement;
};

Table tableOf(Value table, Value indices, int64_t dim) {
  Table t;
  for (auto [d, size] : llvm::enumerate(graph::staticShapeOf(table)))
    (static_cast<int64_t>(d) < dim    ? t.outer
     : static_cast<int64_t>(d) == dim ? t.rows
                                      : t.inner) *= size;
  for (int64_t size : graph::staticShapeOf(indices))
    t.indices *= size;
  t.element = graph::elementTypeOf(table);
  t.indexElement = graph::elementTypeOf(indices);
  return t;
}

Value loadIndex(KernelBuilder &k, int64_t argument, Value position, Type element) {
  Value index = k.load(argument, position, element);
  if (index.getType().isInteger(64))
    return index;
  return arith::ExtSIOp::create(k.builder(), k.loc(), k.builder().getI64Type(), index);
}

Value isBetween(KernelBuilder &k, Value index, Value from, Value to) {
  OpBuilder &b = k.builder();
  Value above = arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::sge, index, from);
  Value below = arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::slt, index, to);
  return arith::AndIOp::create(b, k.loc(), above, below);
}

void emitGather(KernelBuilder &k, const Table &t, int64_t table, int64_t indices, int64_t result) {
  OpBuilder &b = k.builder();
  k.loop(k.begin(), k.end(), 1, [&](Value row) {
    SmallVector<Value> at = k.delinearize(row, {t.outer, t.indices});
    Value index = loadIndex(k, indices, at[1], t.indexElement);
    Value valid = isBetween(k, index, k.constant(0), k.constant(t.rows));
    Value safe = arith::SelectOp::create(b, k.loc(), valid, index, k.constant(0));
    Value from = k.mul(k.add(k.mul(at[0], t.rows), safe), t.inner), to = k.mul(row, t.inner);
    k.loop(k.constant(0), k.constant(t.inner), 1, [&](Value i) {
      Value element = k.load(table, k.add(from, i), t.element);
      Value zero = k.scalar(t.element, 0);
      k.store(arith::SelectOp::create(b, k.loc(), valid, element, zero), result, k.add(to, i));
    });
  });
}

void emitScatterAdd(KernelBuilder &k, const Table &t, int64_t updates, int64_t indices,
                    int64_t result) {
  OpBuilder &b = k.builder();
  k.loop(k.constant(0), k.constant(t.outer), 1, [&](Value o) {
    Value first = k.mul(o, t.rows);
    k.loop(k.mul(k.add(first, k.begin()), t.inner), k.mul(k.add(first, k.end()), t.inner), 1,
           [&](Value i) { k.store(k.scalar(t.element, 0), result, i); });
    k.loop(k.constant(0), k.constant(t.indices), 1, [&](Value row) {
      Value index = loadIndex(k, indices, row, t.indexElement);
      auto branch = scf::IfOp::create(b, k.loc(), isBetween(k, index, k.begin(), k.end()),
                                      /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      Value from = k.mul(k.add(k.mul(o, t.indices), row), t.inner),
            to = k.mul(k.add(first, index), t.inner);
      k.loop(k.constant(0), k.constant(t.inner), 1, [&](Value i) {
        Value sum = k.combine(graph::Reduction::Sum, k.load(result, k.add(to, i), t.element),
                              k.load(updates, k.add(from, i), t.element));
        k.store(sum, result, k.add(to, i));
      });
    });
  });
}

} // namespace

int64_t emitIndexing(KernelBuilder &k, program::KernelOp kernel) {
  Operation &op = kernel.getComputation();
  int64_t operand = kernel.getOperandView(0).getBuffer(),
          indices = kernel.getOperandView(1).getBuffer();
  int64_t result = kernel.getResultView(0).getBuffer();
  if (auto gather = dyn_cast<graph::GatherOp>(op)) {
    Table t = tableOf(gather.getOperand(), gather.getIndices(), gather.getDim());
    emitGather(k, t, operand, indices, result);
    return t.outer * t.indices;
  }
  auto scatter = cast<graph::ScatterAddOp>(op);
  Table t = tableOf(scatter.getResult(), scatter.getIndices(), scatter.getDim());
  emitScatterAdd(k, t, operand, indices, result);
  return t.rows;
}

} // namespace cleave::codegen
