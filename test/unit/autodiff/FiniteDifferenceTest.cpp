// Every gradient rule against central differences in double precision: the derivative of
// sum(weights * f(x)), for random weights, by every element of every float argument.
#include "compiler/interpret/Interpret.h"
#include "dialects/graph/Build.h"
#include "passes/autodiff/Autodiff.h"
#include "passes/autodiff/rules/Rules.h"
#include "test/unit/graph_text/GraphText.h"
#include "test/unit/graph_text/OpCases.h"

#include "mlir/IR/Verifier.h"

#include <catch2/catch.hpp>
#include <set>

using namespace cleave;
using namespace cleave::test;
using namespace mlir;

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
  auto results = interpret(function, args);
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
  REQUIRE(succeeded(buildGradients(b, end->getOperand(0), wrt, gradients)));
  for (auto [value, gradient] : llvm::zip(wrt, gradients))
    if (!gradient)
      gradient = graph::buildSplatLike(b, value, 0);
  end->setOperands(gradients);
  function.setFunctionType(FunctionType::get(function.getContext(), function.getArgumentTypes(),
                                             ValueRange(gradients).getTypes()));
}

void checkCase(const OpCase &c, unsigned seed) {
  GraphText plain(c.text()), differentiated(c.text());
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
  std::vector<Tensor> args = randomArguments(function, random, c.low, c.high);
  auto results = interpret(gradient, args);
  REQUIRE(results.isOk());
  for (size_t i = 0; i < indices.size(); ++i)
    CHECK(error(function, args, indices[i], (*results)[i]) < 1e-7);
}

} // namespace

TEST_CASE("every gradient rule agrees with finite differences") {
  for (const OpCase &c : differentiableCases())
    for (unsigned seed : {1, 2})
      checkCase(c, seed);
}

// Ops that no gradient goes through, or whose gradient nobody needs.
static const std::set<std::string> kWithoutRule = {
    "graph.constant",      "graph.iota",
    "graph.sizes", // no operands
    "graph.compare",       "graph.not",  "graph.and", "graph.or", "graph.xor", "graph.shift_left",
    "graph.shift_right",   // truth values and integers
    "graph.random",        // the same whatever comes in
    "graph.stop_gradient", // where gradients end
    "graph.pool_grad",     // a gradient itself
    "graph.sgd",
    "graph.adam", // behind the gradients
    "graph.fusion",
    "graph.yield", // formed after differentiation
};

TEST_CASE("every op has a gradient rule that is tested, or a reason to have none") {
  std::set<std::string> tested;
  GraphText text("module {}");
  for (const OpCase &c : differentiableCases())
    GraphText(c.text()).module().walk(
        [&](Operation *op) { tested.insert(op->getName().getStringRef().str()); });
  autodiff::RuleTable rules;
  for (RegisteredOperationName op : text.context()->getRegisteredOperationsByDialect("graph")) {
    std::string name = op.getStringRef().str();
    INFO(name);
    CHECK((rules.find(name) != nullptr) != (kWithoutRule.count(name) > 0));
    if (rules.find(name))
      CHECK(tested.count(name) == 1);
  }
}
