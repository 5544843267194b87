// Parsing of programs, random data.
#include "test/unit/graph_text/GraphText.h"

#include "dialects/graph/Graph.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace mlir;

namespace cleave::test {

GraphText::GraphText(const std::string &text) {
  context_.loadDialect<graph::GraphDialect, func::FuncDialect>();
  context_.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    diagnostics += diagnostic.str() + "\n";
    for (Diagnostic &note : diagnostic.getNotes())
      diagnostics += note.str() + "\n";
  });
  module_ = parseSourceString<ModuleOp>(text, ParserConfig(&context_));
  INFO(text << "\n" << diagnostics);
  REQUIRE(module_);
}

func::FuncOp GraphText::function(const std::string &name) {
  if (!name.empty())
    return module_->lookupSymbol<func::FuncOp>(name);
  return *module_->getOps<func::FuncOp>().begin();
}

std::string GraphText::str() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module_->print(stream);
  return text;
}

Tensor randomTensor(Type type, Random &random, double low, double high) {
  Tensor tensor(graph::toElementType(graph::elementTypeOf(type)), graph::staticShapeOf(type));
  for (int64_t i = 0; i < tensor.size(); ++i) {
    double unit = static_cast<double>(random()) / 0x1p32;
    if (tensor.type == ElementType::Bool)
      tensor.set(i, unit < 0.5);
    else if (isFloat(tensor.type))
      tensor.set(i, low + unit * (high - low));
    else
      tensor.set(i, std::floor(low + unit * (high - low)));
  }
  return tensor;
}

std::vector<Tensor> randomArguments(func::FuncOp function, Random &random, double low,
                                    double high) {
  std::vector<Tensor> args;
  for (Type type : function.getArgumentTypes())
    args.push_back(randomTensor(type, random, low, high));
  return args;
}

double difference(const Tensor &a, const Tensor &b) {
  if (a.type != b.type || a.shape != b.shape || a.size() != b.size())
    return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    double x = a.values[i], y = b.values[i];
    if (x == y || (std::isnan(x) && std::isnan(y)))
      continue;
    double relative = std::fabs(x - y) / (1 + std::max(std::fabs(x), std::fabs(y)));
    if (!(relative <= largest)) // also if it is NaN
      largest = std::isnan(relative) ? std::numeric_limits<double>::infinity() : relative;
  }
  return largest;
}

} // namespace cleave::test
