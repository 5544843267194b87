// Update: the optimizers of the domain ai.onnx.preview.training, which update several tensors.
// Inputs are the learning rate, the number of the step, all tensors, all gradients, then all
// tensors of each state.
#include "compiler/frontend/emit/Elementwise.h"
#include "compiler/frontend/emit/Emitter.h"
#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

using namespace emit;

// The operands of one tensor's update, all of the tensor's type.
struct TensorUpdate {
  const Emitter &e;
  Value rate, count; // the learning rate and the number of the step, broadcast
  Value x, gradient; // the gradient includes that of the norm
  Values states;

  Value like(double value) const { return e.splat(x, value); }
};

// Calls `update` for every tensor, which returns the new tensor and states. The results are in the
// order of the operator's outputs.
template <typename Update> Values updateAll(NodeImport &n, size_t states, Update update) {
  double normCoefficient = n.decimal("norm_coefficient", 0);
  size_t each = states + 2;
  if (n.inputCount() < 2 + each || (n.inputCount() - 2) % each)
    fail("has ", n.inputCount(), " inputs, expected 2 and ", each, " per tensor");
  size_t count = (n.inputCount() - 2) / each;
  Values results(count * (states + 1));
  for (size_t i = 0; i < count; ++i) {
    Value x = n.input(2 + i), gradient = n.input(2 + count + i);
    n.checkFloat(x);
    auto broadcast = [&](Value value) {
      return n.broadcast(n.reshape(n.cast(value, elementOf(x)), {}), shapeOf(x));
    };
    TensorUpdate step{.e = n,
                      .rate = broadcast(n.input(0)),
                      .count = broadcast(n.input(1)),
                      .x = x,
                      .gradient = n.add(gradient, n.mul(x, normCoefficient)),
                      .states = {}};
    for (size_t state = 0; state < states; ++state)
      step.states.push_back(n.input(2 + (2 + state) * count + i));
    Values updated = update(step);
    for (size_t k = 0; k <= states; ++k)
      results[k * count + i] = updated[k];
  }
  return results;
}

Values importAdagrad(NodeImport &n) {
  double decay = n.decimal("decay_factor", 0), epsilon = n.decimal("epsilon", 1e-6);
  return updateAll(n, 1, [&](const TensorUpdate &s) -> Values {
    const Emitter &e = s.e;
    Value rate = e.div(s.rate, e.add(e.mul(s.count, decay), 1));
    Value squares = e.add(s.states[0], e.mul(s.gradient, s.gradient));
    Value root = e.add(e.unary<graph::SqrtOp>(squares), epsilon);
    return {e.sub(s.x, e.div(e.mul(rate, s.gradient), root)), squares};
  });
}

Values importAdam(NodeImport &n) {
  double alpha = n.decimal("alpha", 0.9), beta = n.decimal("beta", 0.999),
         epsilon = n.decimal("epsilon", 1e-6);
  double after = n.decimal("norm_coefficient_post", 0);
  return updateAll(n, 2, [&](const TensorUpdate &s) -> Values {
    const Emitter &e = s.e;
    Value first = e.add(e.mul(s.states[0], alpha), e.mul(s.gradient, 1 - alpha));
    Value second = e.add(e.mul(s.states[1], beta), e.mul(e.mul(s.gradient, s.gradient), 1 - beta));
    Value root = e.add(e.unary<graph::SqrtOp>(second), epsilon);
    auto unbiased = [&](double weight) {
      return e.sub(1, e.binary<graph::PowOp>(s.like(weight), s.count));
    };
    Value adjusted = e.div(e.mul(s.rate, e.unary<graph::SqrtOp>(unbiased(beta))), unbiased(alpha));
    Value rate = e.select(e.compare(Predicate::GT, s.count, 0), adjusted, s.rate);
    Value next = e.sub(s.x, e.div(e.mul(rate, first), root));
    return {e.mul(next, 1 - after), first, second};
  });
}

Values importMomentum(NodeImport &n) {
  double alpha = n.decimal("alpha", 0), beta = n.decimal("beta", 1);
  bool nesterov = n.string("mode", "standard") == "nesterov";
  return updateAll(n, 1, [&](const TensorUpdate &s) -> Values {
    const Emitter &e = s.e;
    Value weight = e.select(e.compare(Predicate::GT, s.count, 0), s.like(beta), s.like(1));
    Value momentum = e.add(e.mul(s.states[0], alpha), e.mul(weight, s.gradient));
    Value direction = nesterov ? e.add(s.gradient, e.mul(momentum, alpha)) : momentum;
    return {e.sub(s.x, e.mul(s.rate, direction)), momentum};
  });
}

constexpr OpEntry kUpdateOps[] = {
    {"ai.onnx.preview.training:Adagrad", 1, importAdagrad},
    {"ai.onnx.preview.training:Adam", 1, importAdam},
    {"ai.onnx.preview.training:Momentum", 1, importMomentum},
};

} // namespace

llvm::ArrayRef<OpEntry> updateOps() { return kUpdateOps; }

} // namespace cleave::onnx
