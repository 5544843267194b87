// See Reference.h. Numbers that JSON lacks (inf, nan) are strings.
#include "test/unit/emit/Reference.h"

#include "compiler/interpret/Interpret.h"
#include "test/unit/graph_text/GraphText.h"

#include "mlir/IR/Verifier.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace cleave::emit {
namespace {

using Json = nlohmann::json;

const Json &caseNamed(const std::string &name) {
  static const Json cases = [] {
    std::ifstream file(CLEAVE_EMIT_REFERENCE);
    REQUIRE(file.good());
    return Json::parse(file);
  }();
  REQUIRE(cases.contains(name));
  return cases[name];
}

ElementType typeOf(const std::string &name) {
  return name == "f64"    ? ElementType::F64
         : name == "i64"  ? ElementType::I64
         : name == "bool" ? ElementType::Bool
         : name == "u8"   ? ElementType::U8
                          : ElementType::I8;
}

Tensor tensorOf(const Json &json) {
  Tensor tensor(typeOf(json["type"]), json["shape"].get<std::vector<int64_t>>());
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const Json &value = json["values"][i];
    tensor.values[i] =
        value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();
  }
  return tensor;
}

void compare(const Tensor &found, const Tensor &expected, double tolerance) {
  REQUIRE(found.shape == expected.shape);
  for (int64_t i = 0; i < found.size(); ++i) {
    double a = found.values[i], b = expected.values[i];
    INFO("element " << i << ": found " << a << ", expected " << b);
    CHECK((a == b || std::fabs(a - b) <= tolerance * std::max(1.0, std::fabs(b)) ||
           (std::isnan(a) && std::isnan(b))));
  }
}

} // namespace

void checkReference(const std::string &name, const Formula &formula, double tolerance) {
  INFO(name);
  const Json &json = caseNamed(name);
  test::GraphText text("func.func @f() { return }");
  mlir::func::FuncOp function = text.function();
  std::vector<Tensor> inputs;
  Values arguments;
  for (const Json &input : json["inputs"]) {
    inputs.push_back(tensorOf(input));
    auto type = mlir::RankedTensorType::get(
        inputs.back().shape, graph::fromElementType(inputs.back().type, text.context()));
    (void)function.insertArgument(arguments.size(), type, {}, function.getLoc());
    arguments.push_back(function.getArguments().back());
  }
  mlir::Operation *end = function.getBody().front().getTerminator();
  mlir::OpBuilder b(end);
  Evaluator evaluator;
  Emitter e(b, b.getUnknownLoc(), evaluator);
  Values results;
  try {
    results = formula(e, arguments);
  } catch (const Failure &failure) {
    FAIL(failure.status.message());
  }
  end->setOperands(results);
  function.setFunctionType(mlir::FunctionType::get(text.context(), function.getArgumentTypes(),
                                                   mlir::ValueRange(results).getTypes()));
  REQUIRE(mlir::succeeded(mlir::verify(text.module())));
  auto found = interpret::run(function, inputs);
  REQUIRE(found.isOk());
  REQUIRE(found->size() == json["outputs"].size());
  for (size_t i = 0; i < found->size(); ++i)
    compare((*found)[i], tensorOf(json["outputs"][i]), tolerance);
}

} // namespace cleave::emit
