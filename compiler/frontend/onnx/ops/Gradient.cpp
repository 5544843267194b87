// Gradient of ONNX's training domain: imports the nodes between two tensors once more on the
// operator's operands, and differentiates them with ImportOptions::differentiate.
#include "compiler/frontend/onnx/ops/OpTable.h"

#include "mlir/IR/Diagnostics.h"

namespace cleave::onnx {
namespace {

using namespace emit;

// The gradients of the sum of y by all `variables`; zeros for those on which it does not depend.
Values gradientsOf(NodeImport &n, Value y, const Values &variables) {
  n.checkFloat(y);
  Value sum = n.reduce(Reduction::Sum, y, dimsFrom(0, rankOf(y)));
  Values gradients;
  std::string reason = "cannot be computed";
  mlir::ScopedDiagnosticHandler listen(
      n.b.getContext(), [&](mlir::Diagnostic &diagnostic) { reason = diagnostic.str(); });
  if (mlir::failed(n.services.options().differentiate(n.b, sum, variables, gradients)))
    fail("asks for a gradient: ", reason);
  for (size_t i = 0; i < gradients.size(); ++i)
    if (!gradients[i])
      gradients[i] = n.splat(variables[i], 0);
  return gradients;
}

Values importGradient(NodeImport &n) {
  using Names = std::vector<std::string>;
  Names xs = n.strings("xs").value_or(Names()), names = xs;
  for (const std::string &z : n.strings("zs").value_or(Names()))
    names.push_back(z);
  std::string y = n.string("y", "");
  if (xs.empty() || y.empty())
    fail("has no attributes 'xs' and 'y', which say what is differentiated by what");
  n.checkInputs(names.size(), names.size());
  if (!n.services.options().differentiate)
    fail("asks for a gradient, which this tool cannot make");
  std::map<std::string, Binding> given;
  Values variables;
  for (size_t i = 0; i < names.size(); ++i) {
    Value value = n.input(i);
    if (i < xs.size()) { // an operand that is given twice is two variables
      n.checkFloat(value);
      value = graph::ReshapeOp::create(n.b, n.loc, value.getType(), value);
      variables.push_back(value);
    }
    if (!given.emplace(names[i], Binding{{value}}).second)
      fail("names '", names[i], "' twice");
  }
  Binding result = n.services.importSlice(given, y);
  if (!result.isTensor())
    fail("differentiates '", y, "', which is not a tensor");
  return gradientsOf(n, result.values[0], variables);
}

constexpr OpEntry kGradientOps[] = {
    {"ai.onnx.preview.training:Gradient", 1, importGradient},
};

} // namespace

llvm::ArrayRef<OpEntry> gradientOps() { return kGradientOps; }

} // namespace cleave::onnx
