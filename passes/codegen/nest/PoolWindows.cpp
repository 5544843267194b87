// Loops over the elements of a window, skipping those in the padding.
#include "passes/codegen/nest/PoolWindows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace cleave::codegen {

template <typename Op>
PoolWindows::PoolWindows(KernelBuilder &k, Op op, Value outputTensor, program::ViewAttr inputView,
                         program::ViewAttr outputView)
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
  // Planes of one element are the same in both orders.
  const program::ViewAttr view = inSize() > 1 ? inputView : outputView;
  if (std::max(inSize(), outSize()) > 1 && input[1] > 1 && view.getStrides()[1] == 1)
    step_ = input[1];
}

PoolWindows::PoolWindows(KernelBuilder &k, graph::PoolOp op, program::ViewAttr input,
                         program::ViewAttr output)
    : PoolWindows(k, op, op.getResult(), input, output) {}
PoolWindows::PoolWindows(KernelBuilder &k, graph::PoolGradOp op, program::ViewAttr input,
                         program::ViewAttr output)
    : PoolWindows(k, op, op.getGrad(), input, output) {}

Value PoolWindows::firstOf(Value plane, int64_t size) {
  if (!isChannelsLast())
    return k_.mul(plane, size);
  SmallVector<Value> at = k_.delinearize(plane, {planes_ / step_, step_});
  return k_.add(k_.mul(at[0], size * step_), at[1]);
}

void PoolWindows::pointsInMemory(int64_t size, const std::function<void(Value, Value)> &body) {
  k_.points(planes_ * size, [&](Value point) {
    if (!isChannelsLast()) {
      SmallVector<Value> at = k_.delinearize(point, {planes_, size});
      return body(at[0], at[1]);
    }
    SmallVector<Value> at = k_.delinearize(point, {planes_ / step_, size, step_});
    body(k_.add(k_.mul(at[0], step_), at[2]), at[1]);
  });
}

SmallVector<Value> PoolWindows::visit(ArrayRef<Value> at, ValueRange start, const Visit &visit) {
  return k_.fold(k_.constant(0), k_.constant(llvm::product_of(window_.kernel)), 1, start,
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

Value PoolWindows::coordinate(Value at, Value kernel, size_t d) {
  Value x = k_.add(k_.mul(at, window_.strides[d]), k_.mul(kernel, window_.dilations[d]));
  return k_.add(x, k_.constant(-window_.padsLow[d]));
}

// 0 <= x < limit
Value PoolWindows::below(Value x, int64_t limit) {
  return arith::CmpIOp::create(b_, k_.loc(), arith::CmpIPredicate::ult, x, k_.constant(limit));
}

PoolWindows::Summary PoolWindows::summarise(ArrayRef<Value> at, Value base, int64_t input) {
  Value zero = k_.scalar(wide_, 0);
  SmallVector<Value> start = {zero, isMax_ ? k_.constant(-1) : k_.constant(0)};
  SmallVector<Value> last = visit(at, start, [&](Value position, Value inside, ValueRange carried) {
    Value safe = arith::SelectOp::create(b_, k_.loc(), inside, position, k_.constant(0));
    Value value = inSize() > 0 // else no position is inside
                      ? k_.widen(k_.load(input, inPlane(base, safe), element_))
                      : zero;
    return isMax_ ? larger(value, safe, inside, carried) : added(value, inside, carried);
  });
  return {last[0], last[1], isMax_ ? Value() : divisor(at, last[1])};
}

SmallVector<Value> PoolWindows::larger(Value value, Value position, Value inside,
                                       ValueRange carried) {
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

SmallVector<Value> PoolWindows::added(Value value, Value inside, ValueRange carried) {
  Value zero = k_.scalar(wide_, 0);
  Value summand = arith::SelectOp::create(b_, k_.loc(), inside, value, zero);
  Value one = arith::ExtUIOp::create(b_, k_.loc(), b_.getI64Type(), inside);
  return {k_.combine(graph::Reduction::Sum, element_, carried[0], summand),
          k_.add(carried[1], one)};
}

// The number of elements inside the input, or with count_padding inside the padded input; at
// least 1, so that the average of an empty window is 0.
Value PoolWindows::divisor(ArrayRef<Value> at, Value count) {
  count = arith::MaxSIOp::create(b_, k_.loc(), count, k_.constant(1));
  if (countPadding_) {
    count = k_.constant(1);
    for (size_t d = 0; d < in_.size(); ++d) {
      Value first = k_.add(k_.mul(at[d], window_.strides[d]), k_.constant(-window_.padsLow[d]));
      Value room =
          arith::SubIOp::create(b_, k_.loc(), k_.constant(in_[d] + window_.padsHigh[d] - 1), first);
      Value fits =
          k_.add(arith::DivSIOp::create(b_, k_.loc(), room, k_.constant(window_.dilations[d])),
                 k_.constant(1));
      Value counted = arith::MinSIOp::create(b_, k_.loc(), fits, k_.constant(window_.kernel[d]));
      count = arith::MulIOp::create(b_, k_.loc(), count, counted);
    }
  }
  return arith::SIToFPOp::create(b_, k_.loc(), wide_, count);
}

} // namespace cleave::codegen
