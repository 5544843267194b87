// Loops over output positions.
#include "passes/codegen/nest/PoolEmitter.h"

#include "passes/codegen/nest/PoolWindows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace cleave::codegen {

namespace {

class PoolEmitter {
public:
  template <typename Op>
  PoolEmitter(KernelBuilder &k, Op op, program::ViewAttr input, program::ViewAttr output)
      : k_(k), w_(k, op, input, output) {}

  void emitForward(int64_t input, int64_t result) {
    forEachOutput([&](Value inputBase, Value outputBase, Value output) {
      SmallVector<Value> at = k_.delinearize(output, w_.out());
      PoolWindows::Summary summary = w_.summarise(at, inputBase, input);
      Value value = summary.value;
      if (!w_.isMax())
        value = arith::DivFOp::create(k_.builder(), k_.loc(), value, summary.divisor);
      k_.store(k_.narrow(value, w_.element()), result, w_.inPlane(outputBase, output));
    });
  }

  void emitGradient(int64_t grad, int64_t input, int64_t result) {
    k_.points(w_.planes(), [&](Value plane) {
      Value inputBase = w_.firstOf(plane, w_.inSize()),
            outputBase = w_.firstOf(plane, w_.outSize());
      forEach(w_.inSize(), [&](Value i) {
        k_.store(k_.scalar(w_.element(), 0), result, w_.inPlane(inputBase, i));
      });
      forEach(w_.outSize(), [&](Value output) {
        SmallVector<Value> at = k_.delinearize(output, w_.out());
        PoolWindows::Summary summary = w_.summarise(at, inputBase, input);
        Value value = k_.widen(k_.load(grad, w_.inPlane(outputBase, output), w_.element()));
        if (w_.isMax())
          return k_.when(isNotNegative(summary.position),
                         [&] { addTo(result, w_.inPlane(inputBase, summary.position), value); });
        Value share = arith::DivFOp::create(k_.builder(), k_.loc(), value, summary.divisor);
        w_.visit(at, {}, [&](Value position, Value inside, ValueRange) -> SmallVector<Value> {
          k_.when(inside, [&] { addTo(result, w_.inPlane(inputBase, position), share); });
          return {};
        });
      });
    });
  }

private:
  // Calls `body` for each element of the output, in the order of memory: with the first elements of
  // the planes of input and output, and the position in the plane.
  void forEachOutput(const std::function<void(Value, Value, Value)> &body) {
    if (!w_.isChannelsLast())
      return forEachRow(k_, w_.planes(), w_.outSize(), [&](Value plane, const ForEach &elements) {
        Value input = w_.firstOf(plane, w_.inSize()), output = w_.firstOf(plane, w_.outSize());
        elements([&](Value position) { body(input, output, position); });
      });
    w_.pointsInMemory(w_.outSize(), [&](Value plane, Value position) {
      body(w_.firstOf(plane, w_.inSize()), w_.firstOf(plane, w_.outSize()), position);
    });
  }

  void forEach(int64_t count, const KernelBuilder::Body &body) {
    k_.loop(k_.constant(0), k_.constant(count), 1, body);
  }

  void addTo(int64_t argument, Value position, Value value) {
    Value before = k_.widen(k_.load(argument, position, w_.element()));
    Value sum = k_.combine(graph::Reduction::Sum, w_.element(), before, value);
    k_.store(k_.narrow(sum, w_.element()), argument, position);
  }
  Value isNotNegative(Value position) {
    return arith::CmpIOp::create(k_.builder(), k_.loc(), arith::CmpIPredicate::sge, position,
                                 k_.constant(0));
  }

  KernelBuilder &k_;
  PoolWindows w_;
};

} // namespace

void emitPool(KernelBuilder &k, program::KernelOp kernel) {
  Operation &op = kernel.getComputation();
  auto operand = [&](unsigned i) { return kernel.getOperandView(i).getBuffer(); };
  int64_t result = kernel.getResultView(0).getBuffer();
  if (auto pool = dyn_cast<graph::PoolOp>(op))
    return PoolEmitter(k, pool, kernel.getOperandView(0), kernel.getResultView(0))
        .emitForward(operand(0), result);
  PoolEmitter(k, cast<graph::PoolGradOp>(op), kernel.getOperandView(1), kernel.getOperandView(0))
      .emitGradient(operand(0), operand(1), result);
}

} // namespace cleave::codegen
