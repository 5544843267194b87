// A step of several micro-batches has the same loss as one large batch with all their samples,
// however the labels that count are distributed.
#include "compiler/interpret/Interpret.h"
#include "dialects/graph/FedArguments.h"
#include "dialects/graph/Step.h"
#include "passes/train/Train.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

using namespace cleave;
using namespace cleave::test;
using namespace mlir;

namespace {

using Numbers = std::vector<double>;

constexpr int64_t kRows = 6;

void replaceAll(std::string &text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// logits = x w of N samples, classes y as an input, weights m of samples, and `loss`, computed by
// `body`.
std::string model(int64_t rows, const std::string &body) {
  std::string text = R"(
func.func @step(%x: tensor<Nx4xf64> {graph.name = "x", graph.role = "input"},
    %y: tensor<Nx2xi64> {graph.name = "y", graph.role = "input"},
    %m: tensor<Nxf64> {graph.name = "m", graph.role = "input"},
    %w: tensor<4x3xf64> {graph.name = "w", graph.role = "parameter"})
  -> (tensor<Nx3xf64> {graph.name = "logits", graph.role = "output"},
      tensor<f64> {graph.name = "loss", graph.role = "output"}) {
  %half = graph.constant dense<0.5> : tensor<f64>
  %logits = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<Nx4xf64>, tensor<4x3xf64> -> tensor<Nx3xf64>
  %square = graph.mul %logits, %logits : tensor<Nx3xf64>
  %each = graph.reduce sum %square over [1] : tensor<Nx3xf64> -> tensor<Nxf64>
  %second = graph.slice %y dim 1 from 1 step 1 : tensor<Nx2xi64> -> tensor<Nx1xi64>
  %labels = graph.reshape %second : tensor<Nx1xi64> -> tensor<Nxi64>
)" + body + R"(
  return %logits, %loss : tensor<Nx3xf64>, tensor<f64>
})";
  replaceAll(text, "tensor<N", "tensor<" + std::to_string(rows));
  return text;
}

const char *kSum = "%loss = graph.reduce sum %each over [0] : tensor<Nxf64> -> tensor<f64>";
const char *kCrossEntropy =
    "%loss = graph.softmax_cross_entropy %logits, %labels {ignore_index = 7 : i64} : "
    "tensor<Nx3xf64>, tensor<Nxi64> -> tensor<f64>";
const char *kTwoTerms = R"(
  %ce = graph.softmax_cross_entropy %logits, %labels {ignore_index = 7 : i64} : tensor<Nx3xf64>, tensor<Nxi64> -> tensor<f64>
  %all = graph.reduce sum %each over [0] : tensor<Nxf64> -> tensor<f64>
  %n = graph.constant dense<ROWS.0> : tensor<f64>
  %aux = graph.div %all, %n : tensor<f64>
  %scaled = graph.mul %aux, %half : tensor<f64>
  %loss = graph.add %ce, %scaled : tensor<f64>)";
const char *kMasked = R"(
  %0 = graph.mul %each, %m : tensor<Nxf64>
  %1 = graph.reduce sum %0 over [0] : tensor<Nxf64> -> tensor<f64>
  %2 = graph.reduce sum %m over [0] : tensor<Nxf64> -> tensor<f64>
  %one = graph.constant dense<1.0> : tensor<f64>
  %3 = graph.max %2, %one : tensor<f64>
  %loss = graph.div %1, %3 : tensor<f64>)";
const char *kGuarded = R"(
  %0 = graph.mul %each, %m : tensor<Nxf64>
  %1 = graph.reduce sum %0 over [0] : tensor<Nxf64> -> tensor<f64>
  %2 = graph.reduce sum %m over [0] : tensor<Nxf64> -> tensor<f64>
  %zero = graph.constant dense<0.0> : tensor<f64>
  %one = graph.constant dense<1.0> : tensor<f64>
  %any = graph.compare gt %2, %zero : tensor<f64>
  %3 = graph.select %any, %2, %one : tensor<i1>, tensor<f64>
  %4 = graph.div %1, %3 : tensor<f64>
  %nan = graph.constant dense<0x7FF8000000000000> : tensor<f64>
  %5 = graph.select %any, %4, %nan : tensor<i1>, tensor<f64>
  %loss = graph.mul %5, %half : tensor<f64>)";

// What a model is trained on: rows of x, y and m, and labels.
struct Data {
  Tensor x, y, m, label;
};

Tensor rowsOf(const Tensor &tensor, int64_t begin, int64_t count) {
  std::vector<int64_t> shape = tensor.shape;
  shape[0] = count;
  Tensor part(tensor.type, shape);
  const int64_t width = tensor.size() / tensor.shape[0];
  std::copy_n(tensor.values.begin() + begin * width, part.size(), part.values.begin());
  return part;
}

Tensor tensorOf(ElementType element, std::vector<int64_t> shape, const Numbers &values) {
  Tensor tensor(element, std::move(shape));
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.set(i, values.at(static_cast<size_t>(i)));
  return tensor;
}

// The classes of six samples; 7 is ignored.
Data dataOf(const Numbers &classes) {
  Data data;
  Numbers x, y, m;
  for (int i = 0; i < kRows * 4; ++i)
    x.push_back(std::sin(1.3 * i + 0.4));
  for (double label : classes) {
    y.insert(y.end(), {5, label});
    m.push_back(label == 7 ? 0 : 1 + label);
  }
  data.x = tensorOf(ElementType::F64, {kRows, 4}, x);
  data.y = tensorOf(ElementType::I64, {kRows, 2}, y);
  data.m = tensorOf(ElementType::F64, {kRows}, m);
  data.label = tensorOf(ElementType::I64, {kRows}, classes);
  return data;
}

// The results of one step by name, in micro-batches of `rows` samples.
std::map<std::string, Tensor> run(std::string body, const std::vector<std::string> &losses,
                                  const Data &data, int64_t rows, std::string *said = nullptr) {
  replaceAll(body, "ROWS", std::to_string(rows));
  GraphText text(model(rows, body));
  train::TrainOptions options;
  for (const std::string &loss : losses) {
    auto parsed = train::parseLoss(loss);
    INFO(parsed.status().message());
    REQUIRE(parsed.isOk());
    options.losses.push_back(*parsed);
  }
  options.optimizer = *train::parseOptimizer("sgd:lr=0.5");
  options.accumulate = kRows / rows;
  func::FuncOp step = text.function();
  REQUIRE(succeeded(train::buildTrainingStep(step, options)));
  if (said)
    *said = text.diagnostics;
  std::vector<Tensor> persistent;
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (std::string name = graph::argName(step, i).str(); name == "w")
      persistent.push_back(
          tensorOf(ElementType::F64, {4, 3}, {1, -2, .5, .3, .1, -.7, 2, .4, -.9, .6, -1, .8}));
    else if (!graph::isFed(step, i))
      persistent.push_back(Tensor(graph::toElementType(graph::elementTypeOf(step.getArgument(i))),
                                  graph::staticShapeOf(step.getArgument(i)),
                                  graph::originOf(step, i)->fill));
  std::vector<std::vector<Tensor>> microBatches;
  for (int64_t begin = 0; begin < kRows; begin += rows) {
    microBatches.emplace_back();
    for (unsigned i = 0; i < step.getNumArguments(); ++i) {
      if (!graph::isPerMicroBatch(step, i))
        continue;
      StringRef name = graph::argName(step, i);
      const Tensor &all = name == "x"   ? data.x
                          : name == "y" ? data.y
                          : name == "m" ? data.m
                                        : data.label;
      microBatches.back().push_back(rowsOf(all, begin, rows));
    }
  }
  auto results = interpret::runStep(step, persistent, microBatches);
  INFO(results.status().message());
  REQUIRE(results.isOk());
  std::map<std::string, Tensor> byName;
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    byName[graph::resultName(step, i).str()] = (*results)[i];
  return byName;
}

void checkAlike(const std::string &body, const std::vector<std::string> &losses, const Data &data) {
  auto whole = run(body, losses, data, kRows);
  REQUIRE(std::isfinite(whole["loss"].values[0]));
  for (int64_t rows : {1, 2, 3}) {
    auto parts = run(body, losses, data, rows);
    for (const char *name : {"loss", "grad_norm", "w"}) {
      INFO(losses[0] << ", micro-batches of " << rows << ": " << name);
      CHECK(difference(whole[name], parts[name]) < 1e-12);
    }
  }
}

// Micro-batches with other numbers of labels than the others, and without any.
const Numbers kUneven{7, 7, 0, 7, 2, 1};

} // namespace

TEST_CASE("a loss of classes is the mean over the labels of all micro-batches that count") {
  for (const char *options : {"", ",label-smoothing=0.2", ",class-weights=1:0.5:3",
                              ",class-weights=1:0:3,label-smoothing=0.1", ",reduction=sum",
                              ",reduction=sum,class-weights=2:1:0.5", ",factor=0.25"})
    checkAlike(kSum, {concat("softmax-cross-entropy:logits,label,ignore-index=7", options)},
               dataOf(kUneven));
  for (const char *options : {"", ",class-weights=1:0.5:3", ",reduction=sum"})
    checkAlike(kSum, {concat("nll:logits,label,ignore-index=7", options)}, dataOf(kUneven));
}

TEST_CASE("losses with other labels each have the mean over their own, or over the samples") {
  checkAlike(kSum,
             {"softmax-cross-entropy:logits,label,ignore-index=1",
              "softmax-cross-entropy:logits,label,ignore-index=2,class-weights=1:2:3"},
             dataOf({2, 1, 0, 2, 2, 1}));
}

TEST_CASE("a loss in the model that divides by a number of labels is that of the whole batch") {
  for (const char *body : {kCrossEntropy, kMasked, kGuarded, kTwoTerms})
    checkAlike(body, {"output:loss"}, dataOf(kUneven));
  checkAlike(kMasked, {"output:loss", "softmax-cross-entropy:logits,label,ignore-index=7"},
             dataOf(kUneven));
}

TEST_CASE("a step without labels has no loss and no gradient") {
  for (const char *options : {"", ",class-weights=1:0.5:3", ",label-smoothing=0.2"})
    for (int64_t rows : {2, 6}) {
      auto found = run(kSum, {concat("softmax-cross-entropy:logits,label,ignore-index=7", options)},
                       dataOf({7, 7, 7, 7, 7, 7}), rows);
      CHECK(std::isnan(found["loss"].values[0]));
      CHECK(found["grad_norm"].values[0] == 0);
    }
}

TEST_CASE("a number of labels that is not only a divisor is warned of") {
  const char *rooted = R"(
  %ce = graph.softmax_cross_entropy %logits, %labels {ignore_index = 7 : i64} : tensor<Nx3xf64>, tensor<Nxi64> -> tensor<f64>
  %loss = graph.sqrt %ce : tensor<f64>)";
  std::string said;
  run(rooted, {"output:loss"}, dataOf({0, 1, 2, 0, 1, 2}), 3, &said);
  CHECK_THAT(said, Catch::Contains("the loss output:loss is averaged over the 2 micro-batches"));
  run(kTwoTerms, {"output:loss"}, dataOf({0, 1, 2, 0, 1, 2}), 3, &said);
  CHECK(said.empty());
}
