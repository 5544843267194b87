// A loop over the elements of the result and, inside, over the products that are added up, without
// those whose factor lies in the padding. Sums are f32 (f64 for f64), in two levels: a sum of the
// sums per channel, or per sample for the gradient of the weight, which keeps rounding small.
#include "passes/codegen/nest/ConvolutionEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace cleave::codegen {

namespace {

using Sizes = std::vector<int64_t>;

class ConvolutionEmitter {
public:
  // `data`, `weight` and `out` are the tensors of the conv, or their gradients.
  template <typename Op>
  ConvolutionEmitter(KernelBuilder &k, Op op, Value data, Value weight, Value out)
      : k_(k), b_(k.builder()), strides_(op.getStrides()), dilations_(op.getDilations()),
        padsLow_(op.getPadsLow()), element_(graph::elementTypeOf(op->getOperand(0))),
        resultElement_(graph::elementTypeOf(op->getResult(0))), wide_(k.wideType(element_)) {
    const Sizes in = graph::staticShapeOf(data), filter = graph::staticShapeOf(weight),
                result = graph::staticShapeOf(out);
    const int64_t groups = op.getGroups();
    data_ = {in[0], groups, filter[1]};
    weight_ = {groups, filter[0] / groups, filter[1]};
    out_ = {result[0], groups, filter[0] / groups};
    data_.insert(data_.end(), in.begin() + 2, in.end());
    weight_.insert(weight_.end(), filter.begin() + 2, filter.end());
    out_.insert(out_.end(), result.begin() + 2, result.end());
  }

  void emitForward(int64_t data, int64_t weight, int64_t result) {
    elements(result, out_, [&](ArrayRef<Value> at) { // sample, group, output, position
      return sum(data, weight, data_[2], spatial(weight_), [&](Value input, ArrayRef<Value> tap) {
        auto [position, inside] = inputAt(at.drop_front(3), tap);
        return Term{linear({at[0], at[1], input}, position, data_),
                    linear({at[1], at[2], input}, tap, weight_), inside};
      });
    });
  }

  void emitInputGradient(int64_t grad, int64_t weight, int64_t result) {
    elements(result, data_, [&](ArrayRef<Value> at) { // sample, group, input, position
      return sum(grad, weight, out_[2], spatial(weight_), [&](Value output, ArrayRef<Value> tap) {
        auto [position, inside] = outputAt(at.drop_front(3), tap);
        return Term{linear({at[0], at[1], output}, position, out_),
                    linear({at[1], output, at[2]}, tap, weight_), inside};
      });
    });
  }

  void emitWeightGradient(int64_t grad, int64_t data, int64_t result) {
    elements(result, weight_, [&](ArrayRef<Value> at) { // group, output, input, tap
      return sum(data, grad, out_[0], spatial(out_), [&](Value sample, ArrayRef<Value> output) {
        auto [position, inside] = inputAt(output, at.drop_front(3));
        return Term{linear({sample, at[0], at[2]}, position, data_),
                    linear({sample, at[0], at[1]}, output, out_), inside};
      });
    });
  }

private:
  // A place in a plane, and whether it exists.
  struct Place {
    SmallVector<Value> position;
    Value inside;
  };
  // A product of two elements, by their indices; 0 where the first one is not inside.
  struct Term {
    Value first, second, inside;
  };

  static Sizes spatial(const Sizes &sizes) { return {sizes.begin() + 3, sizes.end()}; }

  Value linear(ArrayRef<Value> major, ArrayRef<Value> minor, const Sizes &sizes) {
    SmallVector<Value> at(major);
    at.append(minor.begin(), minor.end());
    Value index = at[0];
    for (size_t i = 1; i < at.size(); ++i)
      index = k_.add(k_.mul(index, sizes[i]), at[i]);
    return index;
  }

  Value both(Value a, Value b) { return arith::AndIOp::create(b_, k_.loc(), a, b); }
  Value isBelow(Value index, int64_t limit) { // 0 <= index < limit
    return arith::CmpIOp::create(b_, k_.loc(), arith::CmpIPredicate::ult, index,
                                 k_.constant(limit));
  }

  // The input that a tap of the window meets at an output.
  Place inputAt(ArrayRef<Value> output, ArrayRef<Value> tap) {
    Place place{{}, k_.scalar(b_.getI1Type(), 1)};
    for (size_t d = 0; d < output.size(); ++d) {
      Value x = k_.add(k_.mul(output[d], strides_[d]), k_.mul(tap[d], dilations_[d]));
      x = k_.add(x, k_.constant(-padsLow_[d]));
      place.inside = both(place.inside, isBelow(x, data_[3 + d]));
      place.position.push_back(x);
    }
    return place;
  }

  // The output that meets an input by a tap of the window.
  Place outputAt(ArrayRef<Value> input, ArrayRef<Value> tap) {
    Place place{{}, k_.scalar(b_.getI1Type(), 1)};
    for (size_t d = 0; d < input.size(); ++d) {
      Value start =
          k_.add(k_.add(input[d], k_.mul(tap[d], -dilations_[d])), k_.constant(padsLow_[d]));
      Value y = arith::DivSIOp::create(b_, k_.loc(), start, k_.constant(strides_[d]));
      Value isExact = arith::CmpIOp::create(b_, k_.loc(), arith::CmpIPredicate::eq,
                                            k_.mul(y, strides_[d]), start);
      place.inside = both(place.inside, both(isExact, isBelow(y, out_[3 + d])));
      place.position.push_back(y);
    }
    return place;
  }

  void elements(int64_t result, const Sizes &sizes,
                llvm::function_ref<Value(ArrayRef<Value>)> valueAt) {
    k_.points(llvm::product_of(sizes), [&](Value index) {
      Value value = valueAt(k_.delinearize(index, sizes));
      k_.store(k_.narrow(value, resultElement_), result, index);
    });
  }

  // The sum of the terms at `outer` indices, for each of them at those of an array of the sizes
  // `inner`.
  Value sum(int64_t first, int64_t second, int64_t outer, const Sizes &inner,
            llvm::function_ref<Term(Value, ArrayRef<Value>)> termAt) {
    Value zero = k_.scalar(wide_, 0), start = k_.constant(0);
    auto add = [&](Value a, Value b) { return k_.combine(graph::Reduction::Sum, element_, a, b); };
    auto outerSum = [&](Value i, ValueRange total) -> SmallVector<Value> {
      auto innerSum = [&](Value j, ValueRange part) -> SmallVector<Value> {
        return {add(part[0], product(first, second, termAt(i, k_.delinearize(j, inner)), zero))};
      };
      Value end = k_.constant(llvm::product_of(inner));
      return {add(total[0], k_.fold(start, end, 1, zero, innerSum)[0])};
    };
    // Without elements in a plane of the data, no term is inside.
    if (llvm::is_contained(data_, 0))
      return zero;
    return k_.fold(start, k_.constant(outer), 1, zero, outerSum)[0];
  }

  Value product(int64_t first, int64_t second, const Term &term, Value zero) {
    Value safe = arith::SelectOp::create(b_, k_.loc(), term.inside, term.first, k_.constant(0));
    Value a = k_.widen(k_.load(first, safe, element_));
    Value b = k_.widen(k_.load(second, term.second, element_));
    Value product = arith::MulFOp::create(b_, k_.loc(), a, b);
    return arith::SelectOp::create(b_, k_.loc(), term.inside, product, zero);
  }

  KernelBuilder &k_;
  OpBuilder &b_;
  ArrayRef<int64_t> strides_, dilations_, padsLow_;
  Type element_, resultElement_, wide_; // of the factors; of the result; of sums
  // Shapes: samples, groups, input channels of a group, positions; groups, output channels of a
  // group, input channels of a group, taps; samples, groups, output channels of a group, positions.
  Sizes data_, weight_, out_;
};

} // namespace

void emitConvolution(KernelBuilder &k, program::KernelOp kernel) {
  Operation &op = kernel.getComputation();
  const int64_t first = kernel.getOperandView(0).getBuffer(),
                second = kernel.getOperandView(1).getBuffer(),
                result = kernel.getResultView(0).getBuffer();
  if (auto conv = dyn_cast<graph::ConvOp>(op))
    ConvolutionEmitter(k, conv, conv.getInput(), conv.getWeight(), conv.getResult())
        .emitForward(first, second, result);
  else if (auto grad = dyn_cast<graph::ConvInputGradOp>(op))
    ConvolutionEmitter(k, grad, grad.getResult(), grad.getWeight(), grad.getGrad())
        .emitInputGradient(first, second, result);
  else if (auto grad = dyn_cast<graph::ConvWeightGradOp>(op))
    ConvolutionEmitter(k, grad, grad.getInput(), grad.getResult(), grad.getGrad())
        .emitWeightGradient(first, second, result);
}

} // namespace cleave::codegen
