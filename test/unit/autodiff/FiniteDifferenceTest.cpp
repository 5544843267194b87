// Every gradient rule against central differences in double precision: the derivative of sum(weights * f(x)), for
// random weights, by every element of every float argument.
#include "compiler/interpret/Interpret.h"
#include "dialects/graph/Build.h"
#include "passes/autodiff/Autodiff.h"
#include "passes/autodiff/rules/Rules.h"
#include "test/unit/graph_text/GraphText.h"

#include "mlir/IR/Verifier.h"

#include <catch2/catch.hpp>
#include <set>

using namespace cleave;
using namespace cleave::test;
using namespace mlir;

namespace {

// A function from `args` to `%y` of type `result`; arguments are drawn from [low, high).
struct Case {
  std::string args, body, result;
  double low = -1, high = 1;
};

std::string functionText(const Case &c) {
  return "func.func @f(" + c.args + ") -> " + c.result + " {\n" + c.body + "\nreturn %y : " + c.result + "\n}";
}

const char *kMatrix = "tensor<3x4xf64>";

std::vector<Case> elementwise() {
  std::vector<Case> cases;
  auto unary = [&](const std::string &op, double low, double high) {
    cases.push_back({"%x: tensor<3x4xf64>", "%y = graph." + op + " %x : tensor<3x4xf64>", kMatrix, low, high});
  };
  auto binary = [&](const std::string &op, double low, double high) {
    cases.push_back({"%x: tensor<3x4xf64>, %z: tensor<3x4xf64>", "%y = graph." + op + " %x, %z : tensor<3x4xf64>",
                     kMatrix, low, high});
  };
  for (const char *op : {"neg", "abs", "exp", "sin", "cos", "tanh", "erf", "relu", "sigmoid", "silu", "gelu"})
    unary(op, -2, 2);
  cases.push_back({"%x: tensor<3x4xf64>", "%y = graph.gelu %x {tanh} : tensor<3x4xf64>", kMatrix, -2, 2});
  for (const char *op : {"log", "sqrt", "rsqrt"})
    unary(op, 0.5, 2);
  for (const char *op : {"floor", "ceil", "round"})
    unary(op, 0.1, 0.4);
  for (const char *op : {"add", "sub", "mul", "max", "min"})
    binary(op, -2, 2);
  for (const char *op : {"div", "rem", "pow"})
    binary(op, 1.1, 1.9);
  cases.push_back({"%x: tensor<3x4xf64>",
                   R"(%c = graph.constant dense<2.0> : tensor<f64>
                      %e = graph.broadcast %c to [] : tensor<f64> -> tensor<3x4xf64>
                      %y = graph.pow %x, %e : tensor<3x4xf64>)",
                   kMatrix, -2, 2});
  cases.push_back({"%p: tensor<3x4xi1>, %x: tensor<3x4xf64>, %z: tensor<3x4xf64>",
                   "%y = graph.select %p, %x, %z : tensor<3x4xi1>, tensor<3x4xf64>", kMatrix});
  cases.push_back({"%x: tensor<3x4xf64>, %n: tensor<3x4xi64>",
                   R"(%c = graph.cast %n : tensor<3x4xi64> -> tensor<3x4xf64>
                      %y = graph.mul %x, %c : tensor<3x4xf64>)",
                   kMatrix, -3, 3});
  return cases;
}

// dot_general of operands with these types; lists as "batch x batch contract c x c".
Case dot(const std::string &lhs, const std::string &rhs, const std::string &lists, const std::string &result) {
  return {"%x: " + lhs + ", %z: " + rhs,
          "%y = graph.dot_general %x, %z batch " + lists + " : " + lhs + ", " + rhs + " -> " + result, result};
}

std::vector<Case> contraction() {
  std::vector<Case> cases = {
      dot("tensor<3x4xf64>", "tensor<4x5xf64>", "[] x [] contract [1] x [0]", "tensor<3x5xf64>"),
      dot("tensor<3x4xf64>", "tensor<5x4xf64>", "[] x [] contract [1] x [1]", "tensor<3x5xf64>"),
      dot("tensor<4x3xf64>", "tensor<4x5xf64>", "[] x [] contract [0] x [0]", "tensor<3x5xf64>"),
      dot("tensor<2x3x4xf64>", "tensor<4x5xf64>", "[] x [] contract [2] x [0]", "tensor<2x3x5xf64>"),
      dot("tensor<2x3x4xf64>", "tensor<2x4x5xf64>", "[0] x [0] contract [2] x [1]", "tensor<2x3x5xf64>"),
      dot("tensor<2x3x4xf64>", "tensor<2x5x4xf64>", "[0] x [0] contract [2] x [2]", "tensor<2x3x5xf64>"),
      dot("tensor<3x2x4xf64>", "tensor<4x2x5xf64>", "[1] x [1] contract [2] x [0]", "tensor<2x3x5xf64>"),
      dot("tensor<2x3x4x5xf64>", "tensor<5x4x6xf64>", "[] x [] contract [2, 3] x [1, 0]", "tensor<2x3x6xf64>"),
      dot("tensor<3x4xf64>", "tensor<5xf64>", "[] x [] contract [] x []", "tensor<3x4x5xf64>"),
      dot("tensor<4xf64>", "tensor<4xf64>", "[] x [] contract [0] x [0]", "tensor<f64>"),
  };
  auto conv = [&](const std::string &data, const std::string &weight, const std::string &result, const char *strides,
                  const char *dilations, const char *low, const char *high, int groups) {
    std::string attributes = std::string(" {strides = array<i64: ") + strides + ">, dilations = array<i64: " +
                             dilations + ">, pads_low = array<i64: " + low + ">, pads_high = array<i64: " + high +
                             ">, groups = " + std::to_string(groups) + " : i64}";
    cases.push_back({"%x: " + data + ", %w: " + weight,
                     "%y = graph.conv %x, %w" + attributes + " : " + data + ", " + weight + " -> " + result, result});
  };
  conv("tensor<2x3x5x5xf64>", "tensor<2x3x3x3xf64>", "tensor<2x2x5x5xf64>", "1, 1", "1, 1", "1, 1", "1, 1", 1);
  conv("tensor<1x2x6x5xf64>", "tensor<3x2x2x3xf64>", "tensor<1x3x3x2xf64>", "2, 2", "1, 1", "0, 1", "1, 0", 1);
  conv("tensor<1x4x7xf64>", "tensor<6x2x2xf64>", "tensor<1x6x4xf64>", "1", "3", "0", "0", 2);
  for (const char *kind : {"max", "average"})
    for (const char *flag : {"", ", count_padding"})
      cases.push_back({"%x: tensor<2x2x5x5xf64>",
                       std::string("%y = graph.pool ") + kind +
                           " %x {kernel = array<i64: 3, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, "
                           "pads_low = array<i64: 1, 0>, pads_high = array<i64: 1, 1>" +
                           flag + "} : tensor<2x2x5x5xf64> -> tensor<2x2x3x3xf64>",
                       "tensor<2x2x3x3xf64>"});
  return cases;
}

std::vector<Case> movement() {
  return {
      {"%x: tensor<3x4xf64>", "%y = graph.reshape %x : tensor<3x4xf64> -> tensor<2x6xf64>", "tensor<2x6xf64>"},
      {"%x: tensor<2x3x4xf64>", "%y = graph.transpose %x by [2, 0, 1] : tensor<2x3x4xf64> -> tensor<4x2x3xf64>",
       "tensor<4x2x3xf64>"},
      {"%x: tensor<3xf64>", "%y = graph.broadcast %x to [1] : tensor<3xf64> -> tensor<2x3x4xf64>", "tensor<2x3x4xf64>"},
      {"%x: tensor<3x2xf64>", "%y = graph.broadcast %x to [2, 0] : tensor<3x2xf64> -> tensor<2x4x3xf64>",
       "tensor<2x4x3xf64>"},
      {"%x: tensor<f64>", "%y = graph.broadcast %x to [] : tensor<f64> -> tensor<2x3xf64>", "tensor<2x3xf64>"},
      {"%x: tensor<3x7xf64>", "%y = graph.slice %x dim 1 from 1 step 2 : tensor<3x7xf64> -> tensor<3x3xf64>",
       "tensor<3x3xf64>"},
      {"%x: tensor<3x4xf64>", "%y = graph.pad %x dim 0 low 1 : tensor<3x4xf64> -> tensor<5x4xf64>", "tensor<5x4xf64>"},
      {"%x: tensor<3x4xf64>",
       "%y = graph.pad %x dim 1 low 2 {interior = 1 : i64, value = 3.0 : f64} : tensor<3x4xf64> -> tensor<3x10xf64>",
       "tensor<3x10xf64>"},
      {"%x: tensor<3x2xf64>, %z: tensor<3x4xf64>",
       "%y = graph.concat %x, %z, %x dim 1 : tensor<3x2xf64>, tensor<3x4xf64>, tensor<3x2xf64> -> tensor<3x8xf64>",
       "tensor<3x8xf64>"},
      {"%x: tensor<3x4xf64>", "%y = graph.reverse %x dim 1 : tensor<3x4xf64>", kMatrix},
  };
}

std::vector<Case> reduction() {
  std::vector<Case> cases;
  for (const char *kind : {"sum", "max", "min", "prod"})
    for (auto [dims, result] : {std::pair("[1]", "tensor<2x4xf64>"), std::pair("[0, 2]", "tensor<3xf64>"),
                                std::pair("[0, 1, 2]", "tensor<f64>")})
      cases.push_back({"%x: tensor<2x3x4xf64>",
                       std::string("%y = graph.reduce ") + kind + " %x over " + dims + " : tensor<2x3x4xf64> -> " + result,
                       result, -2, 2});
  return cases;
}

std::vector<Case> indexing() {
  return {
      {"%t: tensor<4x3xf64>, %i: tensor<2x5xi64>",
       "%y = graph.gather %t at %i dim 0 : tensor<4x3xf64>, tensor<2x5xi64> -> tensor<2x5x3xf64>", "tensor<2x5x3xf64>",
       -1, 5},
      {"%t: tensor<3x4xf64>, %i: tensor<5xi32>",
       "%y = graph.gather %t at %i dim 1 : tensor<3x4xf64>, tensor<5xi32> -> tensor<3x5xf64>", "tensor<3x5xf64>", -1, 5},
      {"%u: tensor<2x5x3xf64>, %i: tensor<2x5xi64>",
       "%y = graph.scatter_add %u at %i dim 0 : tensor<2x5x3xf64>, tensor<2x5xi64> -> tensor<4x3xf64>",
       "tensor<4x3xf64>", -1, 5},
  };
}

std::vector<Case> normalization() {
  const std::string cube = "tensor<2x3x4xf64>";
  std::vector<Case> cases;
  for (const char *op : {"softmax", "log_softmax"})
    for (const char *dim : {"0", "2"})
      cases.push_back({"%x: " + cube, std::string("%y = graph.") + op + " %x dim " + dim + " : " + cube, cube, -2, 2});
  for (const std::string scale : {"tensor<4xf64>", "tensor<3x4xf64>"}) {
    cases.push_back({"%x: " + cube + ", %s: " + scale + ", %b: " + scale,
                     "%y = graph.layer_norm %x, %s, %b {epsilon = 1.0e-3 : f64} : " + cube + ", " + scale + ", " + scale,
                     cube, -2, 2});
    cases.push_back({"%x: " + cube + ", %s: " + scale,
                     "%y = graph.rms_norm %x, %s {epsilon = 1.0e-3 : f64} : " + cube + ", " + scale, cube, -2, 2});
  }
  for (const std::string data : {"tensor<4x3xf64>", "tensor<2x3x2x2xf64>"})
    cases.push_back({"%x: " + data + ", %s: tensor<3xf64>, %b: tensor<3xf64>, %m: tensor<3xf64>, %v: tensor<3xf64>",
                     "%y, %nm, %nv = graph.batch_norm %x, %s, %b running %m, %v {epsilon = 1.0e-3 : f64, momentum = "
                     "0.1 : f64} : " +
                         data + ", tensor<3xf64>",
                     data, -2, 2});
  return cases;
}

std::vector<Case> losses() {
  return {
      {"%x: tensor<6x4xf64>, %l: tensor<6xi64>",
       "%y = graph.softmax_cross_entropy %x, %l : tensor<6x4xf64>, tensor<6xi64> -> tensor<f64>", "tensor<f64>", 0, 4},
      {"%x: tensor<2x3x4xf64>, %l: tensor<2x3xi64>",
       "%y = graph.softmax_cross_entropy %x, %l {ignore_index = 1 : i64} : tensor<2x3x4xf64>, tensor<2x3xi64> -> "
       "tensor<f64>",
       "tensor<f64>", 0, 4},
      {"%x: tensor<3x4xf64>", "%y = graph.accumulate %x count 2 : tensor<3x4xf64>", kMatrix},
  };
}

std::vector<Case> allCases() {
  std::vector<Case> cases;
  for (auto family : {elementwise, contraction, movement, reduction, indexing, normalization, losses})
    for (Case &c : family())
      cases.push_back(std::move(c));
  return cases;
}

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
  function.setFunctionType(FunctionType::get(function.getContext(), function.getArgumentTypes(), sum.getType()));
  return sum;
}

double valueOf(func::FuncOp function, const std::vector<Tensor> &args) {
  auto results = interpret(function, args);
  REQUIRE(results.isOk());
  return (*results)[0].values[0];
}

// The largest error of `gradient` against central differences by argument `which`.
double error(func::FuncOp function, std::vector<Tensor> args, size_t which, const Tensor &gradient) {
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
  function.setFunctionType(
      FunctionType::get(function.getContext(), function.getArgumentTypes(), ValueRange(gradients).getTypes()));
}

void checkCase(const Case &c, unsigned seed) {
  GraphText plain(functionText(c)), differentiated(functionText(c));
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
  for (const Case &c : allCases())
    for (unsigned seed : {1, 2})
      checkCase(c, seed);
}

// Ops that no gradient goes through, or whose gradient nobody needs.
static const std::set<std::string> kWithoutRule = {
    "graph.constant", "graph.iota",                                     // no operands
    "graph.compare",  "graph.not",  "graph.and", "graph.or", "graph.xor", // truth values
    "graph.conv_input_grad", "graph.conv_weight_grad", "graph.pool_grad", // gradients themselves
    "graph.sgd",      "graph.adam",                                     // behind the gradients
    "graph.fusion",   "graph.yield",                                    // formed after differentiation
};

TEST_CASE("every op has a gradient rule that is tested, or a reason to have none") {
  std::set<std::string> tested;
  GraphText text("module {}");
  for (const Case &c : allCases())
    GraphText(functionText(c)).module().walk([&](Operation *op) { tested.insert(op->getName().getStringRef().str()); });
  autodiff::RuleTable rules;
  for (RegisteredOperationName op : text.context()->getRegisteredOperationsByDialect("graph")) {
    std::string name = op.getStringRef().str();
    INFO(name);
    CHECK((rules.find(name) != nullptr) != (kWithoutRule.count(name) > 0));
    if (rules.find(name))
      CHECK(tested.count(name) == 1);
  }
}
