// Recognition in whole models: composites that exporters decompose are found, and results and
// gradients in double precision stay the same.
#include "compiler/frontend/onnx/Import.h"
#include "compiler/interpret/Interpret.h"
#include "dialects/graph/Build.h"
#include "dialects/graph/Step.h"
#include "passes/autodiff/Autodiff.h"
#include "passes/decompose/Decompose.h"
#include "passes/simplify/Recognised.h"
#include "passes/simplify/Simplify.h"
#include "passes/train/Train.h"
#include "test/unit/graph_text/GraphText.h"
#include "test/unit/train/Origins.h"

#include "mlir/IR/Verifier.h"

#include <catch2/catch.hpp>
#include <filesystem>

using namespace cleave;
using namespace cleave::test;
using namespace mlir;

namespace {

const std::string kModels = std::string(CLEAVE_TEST_DATA) + "/models/";
// Exporters write numbers such as the square root of 2 in single precision.
constexpr double kConstants = 1e-6;
using Counts = std::map<std::string, int64_t>;

Type widened(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (!isa<FloatType>(tensor.getElementType()))
    return type;
  return graph::tensorOf(graph::shapeOf(type), Float64Type::get(type.getContext()));
}

// Makes every float of the step double precision, so that results differ by errors only, not by
// rounding.
void widen(func::FuncOp step) {
  for (BlockArgument argument : step.getArguments())
    argument.setType(widened(argument.getType()));
  step.walk([](Operation *op) {
    if (auto constant = dyn_cast<graph::ConstantOp>(op)) {
      Tensor value = graph::toTensor(constant.getValue());
      if (isFloat(value.type)) {
        value.type = ElementType::F64;
        constant.setValueAttr(graph::toAttribute(value, op->getContext()));
      }
    }
    for (OpResult result : op->getResults())
      if (isa<RankedTensorType>(result.getType()))
        result.setType(widened(result.getType()));
  });
  Operation *end = step.getBody().front().getTerminator();
  step.setFunctionType(FunctionType::get(step.getContext(), step.getBody().getArgumentTypes(),
                                         end->getOperandTypes()));
}

// Adds to the step's results the gradients of sum(weights * first result) by the parameters;
// `weights` are drawn from a fixed seed.
void returnGradients(func::FuncOp step) {
  Operation *end = step.getBody().front().getTerminator();
  OpBuilder b(end);
  Value y = end->getOperand(0);
  Random random(5);
  Value weights = graph::ConstantOp::create(
      b, end->getLoc(), graph::toAttribute(randomTensor(y.getType(), random), b.getContext()));
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, graph::rankOf(y)));
  Value sum = graph::buildReduce(b, graph::Reduction::Sum,
                                 graph::MulOp::create(b, end->getLoc(), y, weights), all);
  SmallVector<Value> wrt, gradients, results(end->getOperands());
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (graph::argRole(step, i) == Role::Parameter)
      wrt.push_back(step.getArgument(i));
  REQUIRE(succeeded(autodiff::buildGradients(b, sum, wrt, gradients)));
  for (Value gradient : gradients)
    if (gradient)
      results.push_back(gradient);
  end->setOperands(results);
  step.removeResAttrsAttr();
  step.setFunctionType(FunctionType::get(step.getContext(), step.getBody().getArgumentTypes(),
                                         ValueRange(results).getTypes()));
}

// One model of test/models, in double precision.
struct Model {
  explicit Model(const std::string &file) {
    onnx::ImportOptions options;
    if (!file.starts_with("patterns/"))
      options.symbols["batch"] = 2;
    options.batchNorm = onnx::ImportOptions::BatchNorm::Train;
    Result<onnx::Imported> imported = onnx::importOnnx(context, kModels + file, options);
    INFO(file << ": " << imported.status().message());
    REQUIRE(imported.isOk());
    module = std::move(imported->module);
    step = graph::stepOf(*module);
    std::string folder = (std::filesystem::path(kModels) / file).parent_path().string();
    Random random(3);
    for (unsigned i = 0; i < step.getNumArguments(); ++i) {
      Type type = step.getArgument(i).getType();
      bool isFlag = graph::argName(step, i) == "y"; // a mask, or labels
      Tensor value =
          graph::argRole(step, i) == Role::Input
              ? randomTensor(type, random,
                             isFlag || isa<FloatType>(graph::elementTypeOf(type)) ? -1 : 0,
                             isFlag                                       ? 2
                             : isa<FloatType>(graph::elementTypeOf(type)) ? 1
                                                                          : 16)
              : firstValue(step, i, folder, std::filesystem::path(file).filename().string());
      if (isFlag && !isFloat(value.type)) // the first key stays
        for (int64_t j = 0; j < value.size(); ++j)
          value.set(j, j % value.shape.back() == 0 ? 1 : std::max(value.values[j], 0.0));
      if (isFloat(value.type))
        value.type = ElementType::F64;
      arguments.push_back(std::move(value));
    }
    widen(step);
  }

  std::vector<Tensor> run() {
    returnGradients(step);
    REQUIRE(succeeded(verify(*module)));
    auto results = interpret::run(step, arguments);
    INFO(results.status().message());
    REQUIRE(results.isOk());
    return *results;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp step;
  std::vector<Tensor> arguments;
};

// Checks that a model computes the same after simplification; returns the composites recognised in
// it.
Counts check(const std::string &file) {
  Model before(file), after(file);
  REQUIRE(succeeded(simplify::simplify(after.step)));
  Counts found = simplify::recognisedIn(after.step);
  INFO(file << ": " << simplify::recognisedText(after.step));
  std::vector<Tensor> expected = before.run(), results = after.run();
  REQUIRE(expected.size() == results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    INFO("result " << i);
    CHECK(difference(expected[i], results[i]) < kConstants);
  }
  return found;
}

void checkFamily(const std::string &stem, std::initializer_list<const char *> exporters,
                 const Counts &expected) {
  for (const char *exporter : exporters) {
    std::string file = stem + "." + exporter + ".onnx";
    Counts found = check(file);
    INFO(file);
    CHECK(found == expected);
  }
}

} // namespace

// Attention of two lines with three heads, merged where they are multiplied and apart where weights
// are dropped, between two other dropouts.
static const char *const kDropping = R"(
func.func @step(%x: tensor<6x5x4xf64> {graph.name = "x", graph.role = "input"},
                %a: tensor<6x5x4xf64> {graph.name = "a", graph.role = "parameter"},
                %b: tensor<6x5x4xf64> {graph.name = "b", graph.role = "parameter"})
    -> (tensor<6x5x4xf64> {graph.name = "y", graph.role = "output"}) {
  %0 = graph.dropout %x {rate = 0.25 : f64} : tensor<6x5x4xf64>
  %q = graph.mul %0, %a : tensor<6x5x4xf64>
  %k = graph.mul %0, %b : tensor<6x5x4xf64>
  %s = graph.dot_general %q, %k batch [0] x [0] contract [2] x [2] : tensor<6x5x4xf64>, tensor<6x5x4xf64> -> tensor<6x5x5xf64>
  %p = graph.softmax %s dim 2 : tensor<6x5x5xf64>
  %h = graph.reshape %p : tensor<6x5x5xf64> -> tensor<2x3x5x5xf64>
  %d = graph.dropout %h {rate = 0.5 : f64} : tensor<2x3x5x5xf64>
  %w = graph.reshape %d : tensor<2x3x5x5xf64> -> tensor<6x5x5xf64>
  %y = graph.dot_general %w, %k batch [0] x [0] contract [2] x [1] : tensor<6x5x5xf64>, tensor<6x5x4xf64> -> tensor<6x5x4xf64>
  %1 = graph.dropout %y {rate = 0.25 : f64} : tensor<6x5x4xf64>
  return %1 : tensor<6x5x4xf64>
})";

// The results of a training step of kDropping for the micro-batch of this number.
static std::vector<Tensor> trained(bool isRecognised, bool isDecomposed, double number) {
  GraphText text(kDropping);
  func::FuncOp step = text.function();
  if (isRecognised)
    REQUIRE(succeeded(simplify::simplify(step)));
  CHECK(simplify::recognisedIn(step) == (isRecognised
                                             ? Counts{{"attention dropout", 1}, {"dropout", 2}}
                                             : Counts{{"dropout", 3}, {"softmax", 1}}));
  train::TrainOptions options;
  options.losses = {*train::parseLoss("mse:y")};
  options.optimizer = *train::parseOptimizer("sgd:lr=0.5");
  REQUIRE(succeeded(train::buildTrainingStep(step, options)));
  if (isDecomposed)
    decompose::decomposeComposites(step);
  Random random(4);
  std::vector<Tensor> arguments = randomArguments(step, random);
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (graph::argName(step, i) == "dropout.micro_batch")
      arguments[i].values[0] = number;
  auto results = interpret::run(step, arguments);
  REQUIRE(results.isOk());
  return *results;
}

TEST_CASE("attention behind dropout drops and trains the same, recognised or spelled, whole or "
          "decomposed") {
  for (double number : {0.0, 7.0}) {
    std::vector<Tensor> spelled = trained(false, false, number);
    for (bool isRecognised : {false, true})
      for (bool isDecomposed : {false, true}) {
        std::vector<Tensor> found = trained(isRecognised, isDecomposed, number);
        REQUIRE(found.size() == spelled.size());
        for (size_t i = 0; i < found.size(); ++i)
          CHECK(difference(spelled[i], found[i]) < 1e-12);
      }
  }
  std::vector<Tensor> first = trained(true, false, 0), second = trained(true, false, 1);
  CHECK(difference(first[0], second[0]) > 1e-3); // the loss, by other masks
}

TEST_CASE("every exporter's GPT has the same composites and computes the same as it is spelled") {
  std::initializer_list<const char *> all = {"dynamo", "dynamo-noopt", "ts-train", "ts-eval"};
  checkFamily("gpt", all,
              {{"layer_norm", 5}, {"gelu", 2}, {"attention causal", 2}, {"embedding", 1}});
  checkFamily("vit", all, {{"layer_norm", 5}, {"gelu", 2}, {"attention", 2}});
}

TEST_CASE("GPT-2's first spelling is recognised, and that its mask, which is a buffer, is causal") {
  checkFamily("gpt2", {"dynamo", "dynamo-noopt", "ts-train", "ts-eval"},
              {{"layer_norm", 5}, {"gelu tanh", 2}, {"attention causal", 2}, {"embedding", 1}});
}

static std::string textOf(const Counts &counts) {
  std::string text;
  for (const auto &[name, number] : counts)
    text += std::to_string(number) + " " + name + ", ";
  return text;
}

// The composites of a model with these sizes, or with its symbols if there are none.
static Counts recognised(const std::string &file, const std::map<std::string, int64_t> &sizes) {
  MLIRContext context;
  onnx::ImportOptions options;
  options.keepSymbols = sizes.empty();
  for (const auto &[symbol, size] : sizes)
    options.symbols[symbol] = size;
  Result<onnx::Imported> imported = onnx::importOnnx(context, kModels + file, options);
  INFO(file << ": " << imported.status().message());
  REQUIRE(imported.isOk());
  func::FuncOp step = graph::stepOf(*imported->module);
  REQUIRE(succeeded(simplify::simplify(step)));
  return simplify::recognisedIn(step);
}

TEST_CASE("with symbols as much is recognised as with numbers") {
  for (const char *model : {"gpt", "vit", "gpt2"})
    for (const char *exporter : {"dynamo", "dynamo-noopt", "ts-train", "ts-eval"}) {
      std::string file = std::string(model) + "." + exporter + ".onnx";
      INFO(file);
      CHECK(recognised(file, {{"batch", 2}}) == recognised(file, {}));
    }
}

TEST_CASE("attention over a sequence of symbolic length is recognised, and that it is causal") {
  for (const char *exporter : {"dynamo", "ts11", "ts17"}) {
    Counts found = recognised(std::string("symbolic/language.") + exporter + ".onnx", {});
    INFO(exporter << ": " << textOf(found));
    CHECK(found == Counts{{"attention causal", 1}, {"embedding", 1}, {"layer_norm", 1}});
  }
}

TEST_CASE("cross entropy is recognised where its mean is written out") {
  for (const char *exporter : {"dynamo", "ts"})
    CHECK(check(std::string("patterns/losses.") + exporter + ".onnx") ==
          Counts{{"softmax_cross_entropy", 2}});
}

TEST_CASE("models without attention are left as they compute") {
  for (const char *model : {"mlp", "resnet"})
    for (const char *exporter : {"dynamo", "dynamo-noopt", "ts-train", "ts-eval"})
      check(std::string(model) + "." + exporter + ".onnx");
}

TEST_CASE("norms are recognised in all spellings, also in half precision") {
  checkFamily("patterns/norms", {"dynamo", "ts"}, {{"layer_norm", 3}, {"rms_norm", 2}});
  checkFamily("patterns/rms-norm", {"dynamo"}, {{"rms_norm", 1}});
  checkFamily("patterns/mixed-norms", {"dynamo", "ts"}, {{"layer_norm", 1}, {"rms_norm", 1}});
}

TEST_CASE("activation functions are recognised in all spellings") {
  checkFamily("patterns/activations", {"dynamo", "ts"},
              {{"gelu", 2}, {"gelu tanh", 3}, {"quick_gelu", 1}, {"silu", 2}, {"swiglu", 1}});
}

TEST_CASE("attention is recognised by einsum, by products of merged heads, with masks, and in "
          "PyTorch's module") {
  checkFamily("patterns/attentions", {"dynamo", "noopt", "ts"},
              {{"attention", 3}, {"attention causal", 1}, {"attention safe", 1}});
}

TEST_CASE("rotary is recognised for neighbouring pairs") {
  // The current exporter writes the causal mask as a table of floats.
  checkFamily("patterns/interleaved", {"ts", "dynamo"},
              {{"attention causal", 1}, {"rotary interleaved", 2}});
}

TEST_CASE("models of transformers are recognised with their masks, shared heads and positions") {
  checkFamily("patterns/llama-eager", {"ts"},
              {{"rms_norm", 3},
               {"attention grouped", 1},
               {"rotary", 2},
               {"silu", 1},
               {"swiglu", 1},
               {"embedding", 1}});
  checkFamily("patterns/llama-sdpa", {"ts"},
              {{"rms_norm", 3},
               {"attention causal safe grouped", 1},
               {"rotary", 2},
               {"silu", 1},
               {"swiglu", 1},
               {"embedding", 1}});
  checkFamily("patterns/t5-eager", {"ts"},
              {{"rms_norm", 3}, {"attention", 1}, {"gelu tanh", 1}, {"embedding", 2}});
  checkFamily("patterns/gpt2-eager", {"ts"},
              {{"layer_norm", 3}, {"attention", 1}, {"gelu tanh", 1}, {"embedding", 1}});
  checkFamily(
      "patterns/gpt2-sdpa", {"ts"},
      {{"layer_norm", 3}, {"attention causal safe", 1}, {"gelu tanh", 1}, {"embedding", 1}});
  checkFamily("patterns/vit-sdpa", {"dynamo", "ts"},
              {{"layer_norm", 3}, {"attention", 1}, {"gelu", 1}});
}
