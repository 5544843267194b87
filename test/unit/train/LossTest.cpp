// The losses of --loss and their gradients, beside those that PyTorch computed
// (test/golden/losses.py).
#include "compiler/interpret/Interpret.h"
#include "dialects/graph/Step.h"
#include "passes/train/Train.h"
#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace cleave;
using namespace cleave::test;
using namespace mlir;

namespace {

// logits = x w + b; `map` is the same as [2, 3 classes, 3 positions].
constexpr const char *kModel = R"(
func.func @step(%x: tensor<6x4xf64> {graph.name = "x", graph.role = "input"},
    %w: tensor<4x3xf64> {graph.name = "weight", graph.role = "parameter"},
    %b: tensor<3xf64> {graph.name = "bias", graph.role = "parameter"})
  -> (tensor<6x3xf64> {graph.name = "logits", graph.role = "output"},
      tensor<2x3x3xf64> {graph.name = "map", graph.role = "output"}) {
  %0 = graph.dot_general %x, %w batch [] x [] contract [1] x [0] : tensor<6x4xf64>, tensor<4x3xf64> -> tensor<6x3xf64>
  %1 = graph.broadcast %b to [1] : tensor<3xf64> -> tensor<6x3xf64>
  %2 = graph.add %0, %1 : tensor<6x3xf64>
  %3 = graph.reshape %2 : tensor<6x3xf64> -> tensor<2x3x3xf64>
  %4 = graph.transpose %3 by [0, 2, 1] : tensor<2x3x3xf64> -> tensor<2x3x3xf64>
  return %2, %4 : tensor<6x3xf64>, tensor<2x3x3xf64>
})";

using Numbers = std::vector<double>;

Tensor tensorOf(ElementType element, const std::vector<int64_t> &shape, const Numbers &values) {
  Tensor tensor(element, shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.set(i, values.at(i));
  return tensor;
}

void checkClose(const Numbers &found, const Numbers &wanted) {
  REQUIRE(found.size() == wanted.size());
  for (size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == Approx(wanted[i]).epsilon(1e-11).margin(1e-12));
}

} // namespace

TEST_CASE("losses and what they train are PyTorch's") {
  std::ifstream file(std::string(CLEAVE_TEST_DATA) + "/golden/losses.json");
  REQUIRE(file.good());
  const auto record = nlohmann::json::parse(file);
  for (const auto &run : record["runs"]) {
    const std::string text = run["loss"];
    INFO(text);
    GraphText model(kModel);
    train::TrainOptions options;
    auto loss = train::parseLoss(text);
    INFO(loss.status().message());
    REQUIRE(loss.isOk());
    options.losses = {*loss};
    options.optimizer = *train::parseOptimizer("sgd:lr=" + record["lr"].dump());
    REQUIRE(succeeded(train::buildTrainingStep(model.function(), options)));
    const auto &labels = record["labels"][run["labels"].get<std::string>()];
    Type labelType = model.function().getArgument(3).getType();
    std::vector<Tensor> inputs = {tensorOf(ElementType::F64, {6, 4}, record["x"]),
                                  tensorOf(graph::toElementType(graph::elementTypeOf(labelType)),
                                           labels["shape"], labels["values"])};
    // Parameters, the number of the step, the learning rate.
    Type rateType = model.function().getArgument(5).getType();
    Tensor rate(graph::toElementType(graph::elementTypeOf(rateType)), {}, record["lr"]);
    std::vector<Tensor> persistent = {tensorOf(ElementType::F64, {4, 3}, record["weight"]),
                                      tensorOf(ElementType::F64, {3}, record["bias"]),
                                      Tensor(ElementType::F64, {}), rate};
    Numbers losses;
    for (size_t step = 0; step < run["losses"].size(); ++step) {
      auto results = interpret::runStep(model.function(), persistent, {inputs});
      INFO(results.status().message());
      REQUIRE(results.isOk());
      losses.push_back((*results)[0].values[0]);
      persistent.assign(results->begin() + 2, results->end()); // behind loss and norm
      persistent.push_back(rate);
    }
    checkClose(losses, run["losses"]);
    checkClose(persistent[0].values, run["weight"]);
    checkClose(persistent[1].values, run["bias"]);
  }
}
