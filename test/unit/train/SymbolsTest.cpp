// Training steps in symbols: built once and then given sizes, they are those that are built with
// these sizes.
#include "dialects/graph/Symbols.h"
#include "compiler/frontend/onnx/Import.h"
#include "dialects/graph/Step.h"
#include "passes/decompose/Decompose.h"
#include "passes/simplify/Simplify.h"
#include "passes/train/Train.h"

#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>

using namespace cleave;

namespace {

using Module = mlir::OwningOpRef<mlir::ModuleOp>;

struct Example {
  std::string file, loss;
};
const std::vector<Example> kExamples = {
    {"mlp.dynamo.onnx", "softmax-cross-entropy:logits"},
    {"gpt.dynamo.onnx", "softmax-cross-entropy:logits"},
    {"resnet.ts-train.onnx", "softmax-cross-entropy:logits"},
    {"vit.dynamo.onnx", "softmax-cross-entropy:logits"},
    {"symbolic/language.ts17.onnx", "softmax-cross-entropy:y"},
    {"symbolic/image.ts17.onnx", "softmax-cross-entropy:y"},
};

// The model's training step; in those symbols that get no values.
Module trainingStep(mlir::MLIRContext &context, const Example &example,
                    const Polynomial::Binding &values, bool isSimplified) {
  onnx::ImportOptions options;
  options.keepSymbols = true;
  options.symbols = values;
  std::string path = std::string(CLEAVE_TEST_DATA) + "/models/" + example.file;
  Result<onnx::Imported> imported = onnx::importOnnx(context, path, options);
  REQUIRE(imported.status().message() == "");
  mlir::func::FuncOp step = graph::stepOf(*imported->module);
  if (isSimplified)
    REQUIRE(mlir::succeeded(simplify::simplify(step, simplify::Composites::Leave)));
  train::TrainOptions train;
  train.losses = {*train::parseLoss(example.loss)};
  train.optimizer = *train::parseOptimizer("adamw:lr=0.01,weight-decay=0.1");
  train.clipNorm = 1.0;
  REQUIRE(mlir::succeeded(train::buildTrainingStep(step, train)));
  decompose::decomposeComposites(step);
  return std::move(imported->module);
}

std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

Polynomial flopsOf(mlir::ModuleOp module) {
  Polynomial sum;
  module->walk([&](graph::CostInterface op) { sum += op.getFlops(); });
  return sum;
}

} // namespace

// Different values from `first` on for all symbols of the module.
static Polynomial::Binding valuesFor(mlir::ModuleOp module, int64_t first) {
  Polynomial::Binding values;
  for (const std::string &name : graph::symbolsOf(module))
    values[name] = first++;
  return values;
}

TEST_CASE("a training step in symbols becomes the one with sizes when they are bound") {
  for (const Example &example : kExamples) {
    INFO(example.file);
    mlir::MLIRContext context;
    context.loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
    Module symbolic = trainingStep(context, example, {}, false);
    REQUIRE(!graph::symbolsOf(*symbolic).empty());
    for (int64_t size : {12, 37}) {
      Polynomial::Binding values = valuesFor(*symbolic, size);
      Module bound = symbolic->clone();
      REQUIRE(graph::bindSymbols(*bound, values).message() == "");
      Module direct = trainingStep(context, example, values, false);
      CHECK((textOf(*bound) == textOf(*direct)));
    }
  }
}

// Composites are left: in symbols fewer of them are found.
TEST_CASE("the cost of a simplified training step is known in symbols") {
  for (const Example &example : kExamples) {
    INFO(example.file);
    mlir::MLIRContext context;
    context.loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
    Module inSymbols = trainingStep(context, example, {}, true);
    Polynomial::Binding values = valuesFor(*inSymbols, 20);
    Module direct = trainingStep(context, example, values, true);
    double exact = static_cast<double>(*flopsOf(*direct).constant());
    double symbolic = static_cast<double>(*flopsOf(*inSymbols).substitute(values).constant());
    CHECK(symbolic == Approx(exact).epsilon(0.01));
  }
}
