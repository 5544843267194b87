// See FiniteDifference.h.
#include "test/unit/autodiff/FiniteDifference.h"

#include "compiler/interpret/Interpret.h"
#include "dialects/graph/Build.h"
#include "passes/autodiff/Autodiff.h"
#include "test/unit/graph_text/GraphText.h"

#include "mlir/IR/Verifier.h"

#include <catch2/catch.hpp>

using namespace mlir;

namespace cleave::test {
namespace {

// Adds the weights as an argument and makes the function return sum(weights * y) alone.
Value makeScalar(func::FuncOp function) {
  Operation *end = function.getBody().front().getTerminator();
  Value y = end->getOperand(0);
  (void)function.insertArgument(function.getNumArguments(), y.getType(), {}, function.getLoc());
  OpBuilder b(end);
  Value product = graph::MulOp::create(b, end->getLoc(), y, function.getArguments().back());
  Value sum = graph::buildReduce(b, graph::Reduction::Sum, product,
                                 llvm::to_vector(llvm::seq<int64_t>(0, graph::rankOf(y))));
  end->setOperand(0, sum);
  function.setFunctionType(
      FunctionType::get(function.getContext(), function.getArgumentTypes(), sum.getType()));
  return sum;
}

double valueOf(func::FuncOp function, const std::vector<Tensor> &args) {
  auto results = interpret::run(function, args);
  REQUIRE(results.isOk());
  return (*results)[0].values[0];
}

// The largest error of `gradient` against central differences by argument `which`.
double error(func::FuncOp function, std::vector<Tensor> args, size_t which,
             const Tensor &gradient) {
  Tensor numeric = gradient;
  const double h = 1e-5;
  for (int64_t i = 0; i < gradient.size(); ++i) {
    double kept = args[which].values[i];
    args[which].values[i] = kept + h;
    double above = valueOf(function, args);
    args[which].values[i] = kept - h;
    double below = valueOf(function, args);
    args[which].values[i] = kept;
    numeric.values[i] = (above - below) / (2 * h);
  }
  return difference(numeric, gradient);
}

// Returns the gradients by these arguments instead of the sum; zeros where there is none.
void returnGradients(func::FuncOp function, ArrayRef<Value> wrt) {
  Operation *end = function.getBody().front().getTerminator();
  OpBuilder b(end);
  SmallVector<Value> gradients;
  REQUIRE(succeeded(autodiff::buildGradients(b, end->getOperand(0), wrt, gradients)));
  for (auto [value, gradient] : llvm::zip(wrt, gradients))
    if (!gradient)
      gradient = graph::buildSplatLike(b, value, 0);
  end->setOperands(gradients);
  function.setFunctionType(FunctionType::get(function.getContext(), function.getArgumentTypes(),
                                             ValueRange(gradients).getTypes()));
}

} // namespace

void checkGradients(const std::string &text, double low, double high, unsigned seed) {
  GraphText plain(text), differentiated(text);
  func::FuncOp function = plain.function(), gradient = differentiated.function();
  makeScalar(function);
  makeScalar(gradient);
  std::vector<size_t> indices;
  SmallVector<Value> wrt;
  for (BlockArgument argument : gradient.getArguments().drop_back())
    if (isa<FloatType>(graph::elementTypeOf(argument))) {
      wrt.push_back(argument);
      indices.push_back(argument.getArgNumber());
    }
  returnGradients(gradient, wrt);
  INFO(differentiated.str());
  REQUIRE(succeeded(verify(differentiated.module())));
  Random random(seed);
  std::vector<Tensor> args = randomArguments(function, random, low, high);
  auto results = interpret::run(gradient, args);
  REQUIRE(results.isOk());
  for (size_t i = 0; i < indices.size(); ++i)
    CHECK(error(function, args, indices[i], (*results)[i]) < 1e-7);
}

} // namespace cleave::test
