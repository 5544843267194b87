// Activation functions, and the hyperbolic ones.
#include "compiler/frontend/onnx/NodeImport.h"

namespace cleave::onnx {
namespace {

using namespace graph;

// Formulas over one float operand, written short.
struct Formula {
  explicit Formula(NodeImport &n) : n(n), x(n.input(0)) {
    n.checkInputs(1, 1);
    n.checkFloat(x);
  }
  NodeImport &n;
  Value x;

  Value number(double value) const { return n.splat(x, value); }
  template <typename Op> Value unary(Value a) const {
    return Op::create(n.b, n.loc, a.getType(), a);
  }
  Value add(Value a, Value c) const { return AddOp::create(n.b, n.loc, a, c); }
  Value sub(Value a, Value c) const { return SubOp::create(n.b, n.loc, a, c); }
  Value mul(Value a, Value c) const { return MulOp::create(n.b, n.loc, a, c); }
  Value div(Value a, Value c) const { return DivOp::create(n.b, n.loc, a, c); }
  Value max(Value a, Value c) const { return MaxOp::create(n.b, n.loc, a, c); }
  Value min(Value a, Value c) const { return MinOp::create(n.b, n.loc, a, c); }
  Value exp(Value a) const { return unary<ExpOp>(a); }
  Value select(Predicate predicate, Value a, Value c, Value yes, Value no) const {
    Value condition = CompareOp::create(n.b, n.loc, predicate, a, c);
    return SelectOp::create(n.b, n.loc, yes.getType(), condition, yes, no);
  }
  // log(1 + exp(x)) without overflow: max(x, 0) + log(1 + exp(-|x|)).
  Value softplus() const {
    Value small = exp(unary<NegOp>(unary<AbsOp>(x)));
    return add(max(x, number(0)), unary<LogOp>(add(number(1), small)));
  }
  // exp(min(x, 0)) - 1: the negative branch of the exponential units, without overflow in the other
  // one.
  Value expBelowZero(Value a) const { return sub(exp(min(a, number(0))), number(1)); }
};

template <typename Op> Values composite(NodeImport &n) {
  Formula f(n);
  return {f.unary<Op>(f.x)};
}

Values importGelu(NodeImport &n) {
  Formula f(n);
  std::string approximate = n.text("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    fail("attribute 'approximate' is '" + approximate + "', expected 'none' or 'tanh'");
  return {GeluOp::create(n.b, n.loc, f.x.getType(), f.x, approximate == "tanh")};
}

Values importLeakyRelu(NodeImport &n) {
  Formula f(n);
  Value scaled = f.mul(f.x, f.number(n.number("alpha", 0.01)));
  return {f.select(Predicate::LT, f.x, f.number(0), scaled, f.x)};
}

Values importPRelu(NodeImport &n) {
  n.checkInputs(2, 2);
  Value x = n.input(0), slope = n.input(1);
  n.checkFloat(x);
  n.checkSameType(x, slope);
  slope = n.broadcast(slope, dimsOf(x));
  Value negative = CompareOp::create(n.b, n.loc, Predicate::LT, x, n.splat(x, 0));
  return {
      SelectOp::create(n.b, n.loc, x.getType(), negative, MulOp::create(n.b, n.loc, x, slope), x)};
}

Values importElu(NodeImport &n) {
  Formula f(n);
  Value below = f.mul(f.number(n.number("alpha", 1)), f.expBelowZero(f.x));
  return {f.select(Predicate::LT, f.x, f.number(0), below, f.x)};
}

Values importCelu(NodeImport &n) {
  Formula f(n);
  Value alpha = f.number(n.number("alpha", 1));
  Value below = f.mul(alpha, f.expBelowZero(f.div(f.x, alpha)));
  return {f.select(Predicate::LT, f.x, f.number(0), below, f.x)};
}

Values importSelu(NodeImport &n) {
  Formula f(n);
  double alpha = n.number("alpha", 1.67326319217681884765625);
  double gamma = n.number("gamma", 1.05070102214813232421875);
  Value below = f.mul(f.number(alpha), f.expBelowZero(f.x));
  return {f.mul(f.number(gamma), f.select(Predicate::LT, f.x, f.number(0), below, f.x))};
}

// max(0, min(1, alpha x + beta)).
Value hardSigmoid(const Formula &f, double alpha, double beta) {
  Value line = f.add(f.mul(f.x, f.number(alpha)), f.number(beta));
  return f.max(f.min(line, f.number(1)), f.number(0));
}

Values importHardSigmoid(NodeImport &n) {
  Formula f(n);
  return {hardSigmoid(f, n.number("alpha", 0.2), n.number("beta", 0.5))};
}

Values importHardSwish(NodeImport &n) {
  Formula f(n);
  return {f.mul(f.x, hardSigmoid(f, 1.0 / 6, 0.5))};
}

Values importSoftplus(NodeImport &n) { return {Formula(n).softplus()}; }

Values importSoftsign(NodeImport &n) {
  Formula f(n);
  return {f.div(f.x, f.add(f.number(1), f.unary<AbsOp>(f.x)))};
}

Values importMish(NodeImport &n) {
  Formula f(n);
  return {f.mul(f.x, f.unary<TanhOp>(f.softplus()))};
}

Values importThresholdedRelu(NodeImport &n) {
  Formula f(n);
  return {f.select(Predicate::GT, f.x, f.number(n.number("alpha", 1)), f.x, f.number(0))};
}

// (exp(x) ± exp(-x)) / 2.
Values importSinh(NodeImport &n) {
  Formula f(n);
  return {f.mul(f.number(0.5), f.sub(f.exp(f.x), f.exp(f.unary<NegOp>(f.x))))};
}
Values importCosh(NodeImport &n) {
  Formula f(n);
  return {f.mul(f.number(0.5), f.add(f.exp(f.x), f.exp(f.unary<NegOp>(f.x))))};
}

// log(x + sqrt(x^2 ± 1)).
Values importAreaFunction(NodeImport &n, double offset) {
  Formula f(n);
  Value root = f.unary<SqrtOp>(f.add(f.mul(f.x, f.x), f.number(offset)));
  return {f.unary<LogOp>(f.add(f.x, root))};
}
Values importAsinh(NodeImport &n) { return importAreaFunction(n, 1); }
Values importAcosh(NodeImport &n) { return importAreaFunction(n, -1); }

// log((1 + x) / (1 - x)) / 2.
Values importAtanh(NodeImport &n) {
  Formula f(n);
  Value quotient = f.div(f.add(f.number(1), f.x), f.sub(f.number(1), f.x));
  return {f.mul(f.number(0.5), f.unary<LogOp>(quotient))};
}

constexpr OpEntry kOps[] = {
    {"Acosh", 9, importAcosh},
    {"Asinh", 9, importAsinh},
    {"Atanh", 9, importAtanh},
    {"Celu", 12, importCelu},
    {"Cosh", 9, importCosh},
    {"Elu", 6, importElu},
    {"Gelu", 20, importGelu},
    {"HardSigmoid", 6, importHardSigmoid},
    {"HardSwish", 14, importHardSwish},
    {"LeakyRelu", 6, importLeakyRelu},
    {"Mish", 18, importMish},
    {"PRelu", 9, importPRelu},
    {"Relu", 6, composite<ReluOp>},
    {"Selu", 6, importSelu},
    {"Sigmoid", 6, composite<SigmoidOp>},
    {"Sinh", 9, importSinh},
    {"Softplus", 1, importSoftplus},
    {"Softsign", 1, importSoftsign},
    {"ThresholdedRelu", 10, importThresholdedRelu},
};

} // namespace

llvm::ArrayRef<OpEntry> activationOps() { return kOps; }

} // namespace cleave::onnx
