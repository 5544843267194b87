// Loops over output positions and, inside, over the window, skipping elements in the padding.
#include "passes/codegen/nest/PoolEmitter.h"

#include "dialects/graph/Window.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace cleave::codegen {

namespace {

class PoolEmitter {
public:
  template <typename Op>
  PoolEmitter(KernelBuilder &k, Op op, Value outputTensor)
      : k_(k), b_(k.builder()), isMax_(op.getKind() == graph::PoolKind::Max),
        countPadding_(op.getCountPadding()), element_(graph::elementTypeOf(op.getInput())),
        wide_(k.wideType(element_)),
        window_{op.getKernel().vec(), op.getStrides().vec(), op.getDilations().vec(),
                op.getPadsLow().vec(), op.getPadsHigh().vec()} {
    std::vector<int64_t> input = graph::staticShapeOf(op.getInput()),
                         output = graph::staticShapeOf(outputTensor);
    planes_ = input[0] * input[1];
    in_.assign(input.begin() + 2, input.end());
    out_.assign(output.begin() + 2, output.end());
  }

  void emitForward(int64_t input, int64_t result) {
    forEachRow(k_, planes_, product(out_), [&](Value plane, const ForEach &elements) {
      Value inputBase = k_.mul(plane, product(in_)), outputBase = k_.mul(plane, product(out_));
      elements([&](Value output) {
        SmallVector<Value> at = k_.delinearize(output, out_);
        Summary summary = summarise(at, inputBase, input);
        Value value = summary.value;
        if (!isMax_)
          value = arith::DivFOp::create(b_, k_.loc(), value, summary.divisor);
        k_.store(k_.narrow(value, element_), result, k_.add(outputBase, output));
      });
    });
  }

  void emitGradient(int64_t grad, int64_t input, int64_t result) {
    planes([&](Value inputBase, Value outputBase) {
      k_.loop(k_.constant(0), k_.constant(product(in_)), 1,
              [&](Value i) { k_.store(k_.scalar(element_, 0), result, k_.add(inputBase, i)); });
      positions([&](ArrayRef<Value> at, Value output) {
        Summary summary = summarise(at, inputBase, input);
        Value value = k_.widen(k_.load(grad, k_.add(outputBase, output), element_));
        if (isMax_)
          return k_.when(isNotNegative(summary.position),
                         [&] { addTo(result, summary.position, value); });
        Value share = arith::DivFOp::create(b_, k_.loc(), value, summary.divisor);
        visit(at, {}, [&](Value position, Value inside, ValueRange) -> SmallVector<Value> {
          k_.when(inside, [&] { addTo(result, k_.add(inputBase, position), share); });
          return {};
        });
      });
    });
  }

private:
  // The results of a window: its maximum (0 if the window is empty) and the position of it (-1), or
  // its sum and the divisor of an average.
  struct Summary {
    Value value, position, divisor;
  };
  using Visit = std::function<SmallVector<Value>(Value position, Value inside, ValueRange carried)>;

  static int64_t product(ArrayRef<int64_t> sizes) {
    int64_t product = 1;
    for (int64_t size : sizes)
      product *= size;
    return product;
  }

  void planes(const std::function<void(Value, Value)> &body) {
    k_.points(planes_, [&](Value plane) {
      body(k_.mul(plane, product(in_)), k_.mul(plane, product(out_)));
    });
  }

  void positions(const std::function<void(ArrayRef<Value>, Value)> &body) {
    k_.loop(k_.constant(0), k_.constant(product(out_)), 1,
            [&](Value output) { body(k_.delinearize(output, out_), output); });
  }

  // Calls `visit` at every element of the window with the position in the plane and whether that
  // position exists.
  SmallVector<Value> visit(ArrayRef<Value> at, ValueRange start, const Visit &visit) {
    return k_.fold(k_.constant(0), k_.constant(product(window_.kernel)), start,
                   [&](Value element, ValueRange carried) {
                     SmallVector<Value> kernel = k_.delinearize(element, window_.kernel);
                     Value position = k_.constant(0), inside = k_.scalar(b_.getI1Type(), 1);
                     for (size_t d = 0; d < in_.size(); ++d) {
                       Value x = coordinate(at[d], kernel[d], d);
                       inside = arith::AndIOp::create(b_, k_.loc(), inside, below(x, in_[d]));
                       position = k_.add(k_.mul(position, in_[d]), x);
                     }
                     return visit(position, inside, carried);
                   });
  }

  Value coordinate(Value at, Value kernel, size_t d) {
    Value x = k_.add(k_.mul(at, window_.strides[d]), k_.mul(kernel, window_.dilations[d]));
    return k_.add(x, k_.constant(-window_.padsLow[d]));
  }
  // 0 <= x < limit
  Value below(Value x, int64_t limit) {
    return arith::CmpIOp::create(b_, k_.loc(), arith::CmpIPredicate::ult, x, k_.constant(limit));
  }

  Summary summarise(ArrayRef<Value> at, Value base, int64_t input) {
    Value zero = k_.scalar(wide_, 0);
    SmallVector<Value> start = {zero, isMax_ ? k_.constant(-1) : k_.constant(0)};
    SmallVector<Value> last =
        visit(at, start, [&](Value position, Value inside, ValueRange carried) {
          Value safe = arith::SelectOp::create(b_, k_.loc(), inside, position, k_.constant(0));
          Value value = product(in_) > 0 // else no position is inside
                            ? k_.widen(k_.load(input, k_.add(base, safe), element_))
                            : zero;
          return isMax_ ? larger(value, k_.add(base, safe), inside, carried)
                        : added(value, inside, carried);
        });
    return {last[0], last[1], isMax_ ? Value() : divisor(at, last[1])};
  }

  SmallVector<Value> larger(Value value, Value position, Value inside, ValueRange carried) {
    Value none =
        arith::CmpIOp::create(b_, k_.loc(), arith::CmpIPredicate::slt, carried[1], k_.constant(0));
    Value above = arith::CmpFOp::create(b_, k_.loc(), arith::CmpFPredicate::OGT, value, carried[0]);
    Value isNan = arith::CmpFOp::create(b_, k_.loc(), arith::CmpFPredicate::UNO, value, value);
    Value better =
        arith::OrIOp::create(b_, k_.loc(), none, arith::OrIOp::create(b_, k_.loc(), above, isNan));
    Value take = arith::AndIOp::create(b_, k_.loc(), inside, better);
    return {arith::SelectOp::create(b_, k_.loc(), take, value, carried[0]),
            arith::SelectOp::create(b_, k_.loc(), take, position, carried[1])};
  }

  SmallVector<Value> added(Value value, Value inside, ValueRange carried) {
    Value zero = k_.scalar(wide_, 0);
    Value summand = arith::SelectOp::create(b_, k_.loc(), inside, value, zero);
    Value one = arith::ExtUIOp::create(b_, k_.loc(), b_.getI64Type(), inside);
    return {k_.combine(graph::Reduction::Sum, element_, carried[0], summand),
            k_.add(carried[1], one)};
  }

  // The number of elements inside the input, or with count_padding inside the padded input; at
  // least 1, so that the average of an empty window is 0.
  Value divisor(ArrayRef<Value> at, Value count) {
    count = arith::MaxSIOp::create(b_, k_.loc(), count, k_.constant(1));
    if (countPadding_) {
      count = k_.constant(1);
      for (size_t d = 0; d < in_.size(); ++d) {
        Value first = k_.add(k_.mul(at[d], window_.strides[d]), k_.constant(-window_.padsLow[d]));
        Value room = arith::SubIOp::create(b_, k_.loc(),
                                           k_.constant(in_[d] + window_.padsHigh[d] - 1), first);
        Value fits =
            k_.add(arith::DivSIOp::create(b_, k_.loc(), room, k_.constant(window_.dilations[d])),
                   k_.constant(1));
        Value counted = arith::MinSIOp::create(b_, k_.loc(), fits, k_.constant(window_.kernel[d]));
        count = arith::MulIOp::create(b_, k_.loc(), count, counted);
      }
    }
    return arith::SIToFPOp::create(b_, k_.loc(), wide_, count);
  }

  void addTo(int64_t argument, Value position, Value value) {
    Value before = k_.widen(k_.load(argument, position, element_));
    Value sum = k_.combine(graph::Reduction::Sum, element_, before, value);
    k_.store(k_.narrow(sum, element_), argument, position);
  }
  Value isNotNegative(Value position) {
    return arith::CmpIOp::create(b_, k_.loc(), arith::CmpIPredicate::sge, position, k_.constant(0));
  }

  KernelBuilder &k_;
  OpBuilder &b_;
  bool isMax_, countPadding_;
  Type element_, wide_; // stored, and computed in
  graph::Window window_;
  int64_t planes_;
  std::vector<int64_t> in_, out_; // spatial sizes
};

} // namespace

void emitPool(KernelBuilder &k, program::KernelOp kernel) {
  Operation &op = kernel.getComputation();
  auto operand = [&](unsigned i) { return kernel.getOperandView(i).getBuffer(); };
  int64_t result = kernel.getResultView(0).getBuffer();
  if (auto pool = dyn_cast<graph::PoolOp>(op)) {
    PoolEmitter emitter(k, pool, pool.getResult());
    return emitter.emitForward(operand(0), result);
  }
  auto grad = cast<graph::PoolGradOp>(op);
  PoolEmitter emitter(k, grad, grad.getGrad());
  emitter.emitGradient(operand(0), operand(1), result);
}

} // namespace cleave::codegen
