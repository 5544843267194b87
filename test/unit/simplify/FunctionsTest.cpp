// Every function of test/lit/simplify computes after simplification what it did before.
#include "compiler/interpret/Interpret.h"
#include "dialects/graph/Build.h"
#include "dialects/graph/Graph.h"
#include "dialects/graph/Symbols.h"
#include "passes/simplify/Simplify.h"
#include "runtime/base/MappedFile.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>
#include <filesystem>

using namespace cleave;
using namespace cleave::test;
using namespace mlir;

namespace {

bool isConcrete(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && llvm::all_of(graph::shapeOf(tensor),
                                [](const Polynomial &size) { return size.isConstant(); });
}

// Floats in [-1, 1), and small numbers that can be indices.
std::vector<Tensor> argumentsOf(func::FuncOp function) {
  Random random(7);
  std::vector<Tensor> arguments;
  for (Type type : function.getArgumentTypes()) {
    const bool isFloat = isa<FloatType>(graph::elementTypeOf(type));
    arguments.push_back(randomTensor(type, random, isFloat ? -1 : 0, isFloat ? 1 : 2));
  }
  return arguments;
}

// What is lost by other orders of the same sums, in the narrowest type.
double roundingOf(func::FuncOp function) {
  double rounding = 1e-5;
  function.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto element = dyn_cast<FloatType>(graph::elementTypeOf(type)))
        if (element.getWidth() < 32)
          rounding = 0.05;
  });
  return rounding;
}

// Every symbol as 4.
void bind(GraphText &text) {
  Polynomial::Binding binding;
  for (const std::string &symbol : graph::symbolsOf(text.module()))
    binding[symbol] = 4;
  REQUIRE(graph::bindSymbols(text.module(), binding).isOk());
}

// Whether numbers are drawn, which a recognised dropout does in another way.
bool draws(func::FuncOp function) {
  return function.walk([](graph::RandomOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

// Compares the functions of a module, simplified with their symbols; returns how many could be run.
int compareAll(const std::string &text) {
  GraphText before(text), after(text);
  for (auto function : after.module().getOps<func::FuncOp>())
    REQUIRE(succeeded(simplify::simplify(function)));
  bind(before);
  bind(after);
  int count = 0;
  for (auto function : before.module().getOps<func::FuncOp>()) {
    INFO(function.getName().str());
    if (draws(function) || !llvm::all_of(function.getArgumentTypes(), isConcrete))
      continue;
    func::FuncOp simplified = after.function(function.getName().str());
    const std::vector<Tensor> arguments = argumentsOf(function);
    Result<std::vector<Tensor>> expected = interpret::run(function, arguments);
    if (!expected)
      continue; // no values for these arguments
    Result<std::vector<Tensor>> results = interpret::run(simplified, arguments);
    INFO(results.status().message());
    REQUIRE(results.isOk());
    REQUIRE(expected->size() == results->size());
    for (size_t i = 0; i < results->size(); ++i)
      CHECK(difference((*expected)[i], (*results)[i]) < roundingOf(function));
    ++count;
  }
  return count;
}

} // namespace

TEST_CASE("functions compute the same after simplification") {
  int count = 0;
  const std::string folder = std::string(CLEAVE_TEST_DATA) + "/lit/simplify";
  for (const auto &file : std::filesystem::directory_iterator(folder)) {
    auto mapped = MappedFile::open(file.path().string());
    REQUIRE(mapped.isOk());
    INFO(file.path().filename().string());
    llvm::SmallVector<StringRef> parts;
    StringRef((*mapped)->text()).split(parts, "// -----");
    for (StringRef part : parts)
      count += compareAll(part.str());
  }
  CHECK(count > 300);
}
