// Random operators. Implementations draw different numbers, so the tests check distributions only.
#include "test/unit/onnx/RunModel.h"
#include "test/unit/onnx/SmallModel.h"

#include <catch2/catch.hpp>

#include <cmath>

namespace cleave::onnx {
namespace {

constexpr int64_t kCount = 4096;

Attribute shapeAttribute() {
  Attribute attribute;
  attribute.name = "shape";
  attribute.type = AttributeType::Ints;
  attribute.integers = {kCount};
  return attribute;
}

double mean(const Tensor &x) {
  double sum = 0;
  for (double value : x.values)
    sum += value;
  return sum / static_cast<double>(x.size());
}

double deviation(const Tensor &x) {
  double middle = mean(x), sum = 0;
  for (double value : x.values)
    sum += (value - middle) * (value - middle);
  return std::sqrt(sum / static_cast<double>(x.size()));
}

TEST_CASE("random numbers have the operator's distribution") {
  Model model = emptyModel();
  model.graph.inputs = {tensorInfo("p", kFloat, {kCount}), tensorInfo("logits", kFloat, {1, 3})};
  model.graph.nodes = {
      makeNode("RandomNormal", {}, {"normal"}, {shapeAttribute()}),
      makeNode("RandomNormal", {}, {"other"}, {shapeAttribute()}),
      makeNode("RandomUniformLike", {"p"}, {"uniform"}),
      makeNode("Bernoulli", {"p"}, {"coins"}),
      makeNode("Multinomial", {"logits"}, {"classes"}, {integerAttribute("sample_size", kCount)}),
  };
  for (const char *name : {"normal", "other", "uniform", "coins"})
    model.graph.outputs.push_back(tensorInfo(name, kFloat, {kCount}));
  model.graph.outputs.push_back(tensorInfo("classes", kInt32, {1, kCount}));
  SmallModel file(model);
  Tensor logits(ElementType::F32, {1, 3});
  logits.values = {std::log(0.2), std::log(0.5), std::log(0.3)};
  Arrays inputs{{"p", Tensor(ElementType::F32, {kCount}, 0.25)}, {"logits", logits}};
  Computed computed = runModel(file.path(), {}, inputs);
  INFO(computed.status.message());
  REQUIRE(computed.status.isOk());
  const Arrays &out = computed.outputs;
  CHECK(mean(out.at("normal")) == Approx(0).margin(0.06));
  CHECK(deviation(out.at("normal")) == Approx(1).margin(0.05));
  CHECK(out.at("normal").values != out.at("other").values);
  CHECK(mean(out.at("uniform")) == Approx(0.5).margin(0.03));
  CHECK(deviation(out.at("uniform")) == Approx(std::sqrt(1.0 / 12)).margin(0.02));
  CHECK(mean(out.at("coins")) == Approx(0.25).margin(0.03));
  CHECK(mean(out.at("classes")) == Approx(1.1).margin(0.05));
  // The next step draws other numbers: the counter is a state.
  CHECK(out.at("random.step").values[0] == 1);
}

} // namespace
} // namespace cleave::onnx
