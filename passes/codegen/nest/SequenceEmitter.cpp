// A tensor has the form [outer, size, inner]; the parallel range is the lines outer × inner.
//
// Sorts (value, position) by heapsort in place in the results. No two entries are equal, so that
// the order is stable without further memory.
#include "passes/codegen/nest/SequenceEmitter.h"

#include "dialects/graph/Pointwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace cleave::codegen {

namespace {

struct Lines {
  int64_t outer = 1, size = 1, inner = 1;
  Type element;
};

Lines linesOf(Value tensor, int64_t dim) {
  Lines lines;
  for (auto [d, size] : llvm::enumerate(graph::staticShapeOf(tensor))) {
    auto at = static_cast<int64_t>(d);
    (at < dim ? lines.outer : at == dim ? lines.size : lines.inner) *= size;
  }
  lines.element = graph::elementTypeOf(tensor);
  return lines;
}

// Calls `body` with the position of the first element of every line.
void forEachLine(KernelBuilder &k, const Lines &lines, const KernelBuilder::Body &body) {
  k.points(lines.outer * lines.inner, [&](Value line) {
    SmallVector<Value> at = k.delinearize(line, {lines.outer, lines.inner});
    body(k.add(k.mul(at[0], lines.size * lines.inner), at[1]));
  });
}

void emitScan(KernelBuilder &k, const Lines &lines, graph::Reduction kind, int64_t from,
              int64_t to) {
  forEachLine(k, lines, [&](Value first) {
    Value start = k.neutral(kind, k.wideType(lines.element));
    k.fold(k.constant(0), k.constant(lines.size), 1, start,
           [&](Value i, ValueRange carried) -> SmallVector<Value> {
             Value position = k.add(first, k.mul(i, lines.inner));
             Value element = k.widen(k.load(from, position, lines.element));
             Value sum = k.combine(kind, lines.element, carried[0], element);
             k.store(k.narrow(sum, lines.element), to, position);
             return {sum};
           });
  });
}

class SortEmitter {
public:
  SortEmitter(KernelBuilder &k, const Lines &lines, bool descending, int64_t from, int64_t values,
              int64_t indices)
      : k_(k), b_(k.builder()), lines_(lines), descending_(descending), from_(from),
        values_(values), indices_(indices) {}

  void emit() {
    forEachLine(k_, lines_, [&](Value first) {
      first_ = first;
      Value size = k_.constant(lines_.size);
      k_.loop(k_.constant(0), size, 1,
              [&](Value i) { put(i, {k_.load(from_, at(i), lines_.element), i}); });
      // Builds a heap, the last entry in sorted order at its root; then moves the root to the end,
      // one entry at a time.
      k_.loop(k_.constant(0), k_.constant(lines_.size / 2), 1, [&](Value i) {
        Value root = subtract(k_.constant(lines_.size / 2 - 1), i);
        sift(get(root), root, size);
      });
      k_.loop(k_.constant(0), k_.constant(std::max<int64_t>(lines_.size - 1, 0)), 1, [&](Value i) {
        Value end = subtract(k_.constant(lines_.size - 1), i);
        Entry last = get(end);
        put(end, get(k_.constant(0)));
        sift(last, k_.constant(0), end);
      });
    });
  }

private:
  struct Entry {
    Value value, position;
  };

  Value at(Value i) { return k_.add(first_, k_.mul(i, lines_.inner)); }
  Entry get(Value i) {
    return {k_.load(values_, at(i), lines_.element), k_.load(indices_, at(i), b_.getI64Type())};
  }
  void put(Value i, const Entry &entry) {
    k_.store(entry.value, values_, at(i));
    k_.store(entry.position, indices_, at(i));
  }
  Value subtract(Value a, Value b) { return arith::SubIOp::create(b_, k_.loc(), a, b); }
  Value all(Value a, Value b) { return arith::AndIOp::create(b_, k_.loc(), a, b); }
  Value any(Value a, Value b) { return arith::OrIOp::create(b_, k_.loc(), a, b); }
  Value negate(Value a) {
    return arith::XOrIOp::create(b_, k_.loc(), a, k_.scalar(b_.getI1Type(), 1));
  }
  Value choose(Value condition, Value a, Value b) {
    return arith::SelectOp::create(b_, k_.loc(), condition, a, b);
  }
  Value compare(graph::Predicate predicate, Value a, Value b, bool isUnsigned = false) {
    return graph::buildCompare(b_, k_.loc(), predicate, a, b, isUnsigned);
  }

  // NaN counts as the largest number.
  Value isSmaller(Value a, Value b) {
    Value less = compare(graph::Predicate::LT, a, b, graph::isUnsigned(lines_.element));
    if (!isa<FloatType>(a.getType()))
      return less;
    Value aIsNan = compare(graph::Predicate::NE, a, a),
          bIsNan = compare(graph::Predicate::NE, b, b);
    return any(less, all(bIsNan, negate(aIsNan)));
  }

  // Whether `a` comes before `b` in the sorted line.
  Value isBefore(const Entry &a, const Entry &b) {
    Value before = descending_ ? isSmaller(b.value, a.value) : isSmaller(a.value, b.value);
    Value after = descending_ ? isSmaller(a.value, b.value) : isSmaller(b.value, a.value);
    Value stoodBefore = compare(graph::Predicate::LT, a.position, b.position);
    return any(before, all(negate(after), stoodBefore));
  }

  // Puts an entry into the heap [0, size) at `root` or below: larger children move up.
  void sift(const Entry &entry, Value root, Value size) {
    auto loop = scf::WhileOp::create(
        b_, k_.loc(), TypeRange{b_.getI64Type(), b_.getI64Type()}, ValueRange{root},
        [&](OpBuilder &, Location, ValueRange args) { siftCondition(entry, args[0], size); },
        [&](OpBuilder &, Location, ValueRange args) {
          put(args[0], get(args[1]));
          scf::YieldOp::create(b_, k_.loc(), args[1]);
        });
    put(loop.getResult(0), entry);
  }

  // Descends to the larger child while that comes after the entry.
  void siftCondition(const Entry &entry, Value node, Value size) {
    Value left = k_.add(k_.mul(node, 2), k_.constant(1)), right = k_.add(left, k_.constant(1));
    Value hasLeft = compare(graph::Predicate::LT, left, size),
          hasRight = compare(graph::Predicate::LT, right, size);
    Entry a = get(choose(hasLeft, left, node)), b = get(choose(hasRight, right, node));
    Value takeRight = all(hasRight, isBefore(a, b));
    Entry larger = {choose(takeRight, b.value, a.value), choose(takeRight, b.position, a.position)};
    Value goOn = all(hasLeft, isBefore(entry, larger));
    scf::ConditionOp::create(b_, k_.loc(), goOn, ValueRange{node, choose(takeRight, right, left)});
  }

  KernelBuilder &k_;
  OpBuilder &b_;
  Lines lines_;
  bool descending_;
  int64_t from_, values_, indices_;
  Value first_;
};

} // namespace

void emitSequence(KernelBuilder &k, program::KernelOp kernel) {
  Operation &op = kernel.getComputation();
  int64_t from = kernel.getOperandView(0).getBuffer(), to = kernel.getResultView(0).getBuffer();
  if (auto scan = dyn_cast<graph::ScanOp>(op)) {
    Lines lines = linesOf(scan.getOperand(), scan.getDim());
    return emitScan(k, lines, scan.getKind(), from, to);
  }
  auto sort = cast<graph::SortOp>(op);
  Lines lines = linesOf(sort.getOperand(), sort.getDim());
  SortEmitter(k, lines, sort.getDescending(), from, to, kernel.getResultView(1).getBuffer()).emit();
}

} // namespace cleave::codegen
