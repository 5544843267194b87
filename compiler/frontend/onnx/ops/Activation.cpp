// Activation functions and hyperbolic functions.
#include "compiler/frontend/emit/Activation.h"

#include "compiler/frontend/onnx/ops/OpTable.h"

namespace cleave::onnx {
namespace {

Value operand(NodeImport &n) {
  n.checkInputs(1, 1);
  n.checkFloat(n.input(0));
  return n.input(0);
}

// A handler for a function of the operand without attributes.
template <Value (*function)(const emit::Emitter &, Value)> Values activation(NodeImport &n) {
  return {function(n, operand(n))};
}

Values importGelu(NodeImport &n) {
  std::string approximate = n.string("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    fail("attribute 'approximate' is '", approximate, "', expected 'none' or 'tanh'");
  return {emit::gelu(n, operand(n), approximate == "tanh")};
}

Values importLeakyRelu(NodeImport &n) {
  return {emit::leakyRelu(n, operand(n), n.decimal("alpha", 0.01))};
}

Values importPRelu(NodeImport &n) {
  n.checkInputs(2, 2);
  return {emit::prelu(n, n.input(0), n.input(1))};
}

Values importElu(NodeImport &n) { return {emit::elu(n, operand(n), n.decimal("alpha", 1))}; }

Values importCelu(NodeImport &n) { return {emit::celu(n, operand(n), n.decimal("alpha", 1))}; }

Values importSelu(NodeImport &n) {
  double alpha = n.decimal("alpha", 1.67326319217681884765625);
  double gamma = n.decimal("gamma", 1.05070102214813232421875);
  return {emit::selu(n, operand(n), alpha, gamma)};
}

Values importHardSigmoid(NodeImport &n) {
  double alpha = n.decimal("alpha", 0.2), beta = n.decimal("beta", 0.5);
  return {emit::hardSigmoid(n, operand(n), alpha, beta)};
}

Values importShrink(NodeImport &n) {
  double lambda = n.decimal("lambd", 0.5), bias = n.decimal("bias", 0);
  return {emit::shrink(n, operand(n), lambda, bias)};
}

Values importSoftplus(NodeImport &n) { return {emit::softplus(n, operand(n))}; }

Values importSwish(NodeImport &n) { return {emit::silu(n, operand(n), n.decimal("alpha", 1))}; }

Values importThresholdedRelu(NodeImport &n) {
  return {emit::thresholdedRelu(n, operand(n), n.decimal("alpha", 1))};
}

constexpr OpEntry kActivationOps[] = {
    {"Acos", 7, activation<emit::arcCosine>},
    {"Acosh", 9, activation<emit::areaCosine>},
    {"Asin", 7, activation<emit::arcSine>},
    {"Asinh", 9, activation<emit::areaSine>},
    {"Atanh", 9, activation<emit::areaTangent>},
    {"Celu", 12, importCelu},
    {"Cosh", 9, activation<emit::hyperbolicCosine>},
    {"Elu", 6, importElu},
    {"Gelu", 20, importGelu},
    {"HardSigmoid", 6, importHardSigmoid},
    {"HardSwish", 14, activation<emit::hardSwish>},
    {"LeakyRelu", 6, importLeakyRelu},
    {"Mish", 18, activation<emit::mish>},
    {"PRelu", 7, importPRelu},
    {"Relu", 6, activation<emit::relu>},
    {"Selu", 6, importSelu},
    {"Shrink", 9, importShrink},
    {"Sigmoid", 6, activation<emit::sigmoid>},
    {"Sinh", 9, activation<emit::hyperbolicSine>},
    {"Softplus", 1, importSoftplus},
    {"Softsign", 1, activation<emit::softsign>},
    {"Swish", 24, importSwish},
    {"Tan", 7, activation<emit::tangent>},
    {"ThresholdedRelu", 10, importThresholdedRelu},
};

} // namespace

llvm::ArrayRef<OpEntry> activationOps() { return kActivationOps; }

} // namespace cleave::onnx
