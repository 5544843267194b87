// Activation functions.
#include "compiler/frontend/emit/Activation.h"
#include "compiler/frontend/aten/OpCall.h"

namespace cleave::aten {
namespace {

using emit::Emitter;

Results relu(OpCall &c) {
  Array x = c.tensor("self");
  return isFloating(x) ? emit::relu(c.e, x) : c.e.max(x, 0.0);
}
Results gelu(OpCall &c) {
  const std::string &approximate = c.string("approximate");
  if (approximate != "none" && approximate != "tanh")
    fail("approximates by '", approximate, "', expected none or tanh");
  return emit::gelu(c.e, c.floats("self"), approximate == "tanh");
}
Results silu(OpCall &c) { return emit::silu(c.e, c.floats("self")); }
Results leakyRelu(OpCall &c) {
  return emit::leakyRelu(c.e, c.floats("self"), c.number("negative_slope"));
}
Results prelu(OpCall &c) {
  Array x = c.floats("self"), slope = c.cast(c.tensor("weight"), typeOf(x));
  if (graph::elementCount(slope.getType()) == Polynomial(1)) {
    slope = c.e.reshape(slope, Sizes());
  } else if (rankOf(slope) == 1 && rankOf(x) > 1) {
    Sizes column(rankOf(x) - 1, 1);
    column[0] = shapeOf(slope)[0];
    slope = c.e.reshape(slope, column);
  }
  return emit::prelu(c.e, x, slope);
}
// Below zero scale alpha (exp(input_scale x) - 1), above scale x.
Results elu(OpCall &c) {
  double alpha = c.number("alpha"), scale = c.number("scale"), inputScale = c.number("input_scale");
  Array x = c.floats("self");
  if (inputScale != 1)
    fail("scales the input of its exponential by ", inputScale, ", which Cleave does not do");
  Array out = emit::elu(c.e, x, alpha);
  return scale == 1 ? out : c.e.mul(out, scale);
}
Results celu(OpCall &c) { return emit::celu(c.e, c.floats("self"), c.number("alpha")); }
Results selu(OpCall &c) {
  return emit::selu(c.e, c.floats("self"), 1.6732632423543772, 1.0507009873554805);
}
Results hardtanh(OpCall &c) {
  Array x = c.tensor("self");
  double low = c.number("min_val"), high = c.number("max_val");
  return isFloating(x) ? emit::hardTanh(c.e, x, low, high) : c.e.min(c.e.max(x, low), high);
}
Results hardsigmoid(OpCall &c) { return emit::hardSigmoid(c.e, c.floats("self"), 1.0 / 6); }
Results softplus(OpCall &c) {
  return emit::softplus(c.e, c.floats("self"), c.number("beta"), c.number("threshold"));
}
Results threshold(OpCall &c) {
  return emit::thresholdedRelu(c.e, c.floats("self"), c.number("threshold"), c.number("value"));
}
Results hardshrink(OpCall &c) { return emit::shrink(c.e, c.floats("self"), c.number("lambd"), 0); }
Results softshrink(OpCall &c) {
  double lambda = c.number("lambd");
  return emit::shrink(c.e, c.floats("self"), lambda, lambda);
}
Results tanhshrink(OpCall &c) {
  Array x = c.floats("self");
  return c.e.sub(x, c.e.unary<graph::TanhOp>(x));
}
Results glu(OpCall &c) {
  Array x = c.floats("self");
  return emit::glu(c.e, x, c.dim("dim", rankOf(x)));
}

// Op along the argument `dim` of x.
template <typename Op> Results alongDim(OpCall &c, Array x) {
  c.e.checkFloat(x);
  return Array(Op::create(c.e.b, c.e.loc, x.getType(), x, c.dim("dim", rankOf(x))));
}
template <typename Op> Results along(OpCall &c) {
  return alongDim<Op>(c, c.castIf(c.floats("self"), c.dtype()));
}
// `half_to_float` converts the operand first.
template <typename Op> Results alongHalf(OpCall &c) {
  Array x = c.floats("self");
  return alongDim<Op>(c, c.boolean("half_to_float") ? c.cast(x, ElementType::F32) : x);
}
Results softmin(OpCall &c) {
  return alongDim<graph::SoftmaxOp>(c, c.e.neg(c.castIf(c.floats("self"), c.dtype())));
}

constexpr const char *kSelf = "T self";
constexpr const char *kAlongTyped = "V self, i dim, i? dtype=None";

constexpr OpEntry kActivationOps[] = {
    {"_log_softmax", "V self, i dim, b half_to_float", alongHalf<graph::LogSoftmaxOp>},
    {"_prelu_kernel", "T self, T weight", prelu},
    {"_softmax", "V self, i dim, b half_to_float", alongHalf<graph::SoftmaxOp>},
    {"celu", "T self, s alpha=1.0", celu},
    {"elu", "T self, s alpha=1, s scale=1, s input_scale=1", elu},
    {"gelu", "T self, *, str approximate='none'", gelu},
    {"glu", "T self, i dim=-1", glu},
    {"hardshrink", "T self, s lambd=0.5", hardshrink},
    {"hardsigmoid", kSelf, hardsigmoid},
    {"hardswish", kSelf, formula<emit::hardSwish>},
    {"hardtanh", "T self, s min_val=-1, s max_val=1", hardtanh},
    {"leaky_relu", "T self, s negative_slope=0.01", leakyRelu},
    {"log_sigmoid", kSelf, formula<emit::logSigmoid>},
    {"log_softmax", kAlongTyped, along<graph::LogSoftmaxOp>},
    {"mish", kSelf, formula<emit::mish>},
    {"prelu", "T self, T weight", prelu},
    {"relu", kSelf, relu},
    {"relu6", "T self, s min_val=0, s max_val=6", hardtanh},
    {"selu", kSelf, selu},
    {"sigmoid", kSelf, formula<emit::sigmoid>},
    {"silu", kSelf, silu},
    {"softmax", kAlongTyped, along<graph::SoftmaxOp>},
    {"softmin", kAlongTyped, softmin},
    {"softplus", "T self, s beta=1, s threshold=20", softplus},
    {"softshrink", "T self, s lambd=0.5", softshrink},
    {"softsign", kSelf, formula<emit::softsign>},
    {"special_expit", kSelf, formula<emit::sigmoid>},
    {"special_log_softmax", "V self, i dim, *, i? dtype=None", along<graph::LogSoftmaxOp>},
    {"special_softmax", kAlongTyped, along<graph::SoftmaxOp>},
    {"tanhshrink", kSelf, tanhshrink},
    {"threshold", "T self, s threshold, s value", threshold},
};

} // namespace

llvm::ArrayRef<OpEntry> activationOps() { return kActivationOps; }

} // namespace cleave::aten
