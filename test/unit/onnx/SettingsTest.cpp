// Float constants that configure operators are known while importing and are not parameters,
// however many operators lie between.
#include "test/unit/onnx/RunModel.h"
#include "test/unit/onnx/SmallModel.h"

#include <catch2/catch.hpp>

namespace cleave::onnx {
namespace {

StoredTensor storedIntegers(const std::string &name, const std::vector<int64_t> &values) {
  StoredTensor tensor;
  tensor.name = name;
  tensor.dataType = kInt64;
  tensor.dims = {static_cast<int64_t>(values.size())};
  tensor.decoded.assign(reinterpret_cast<const char *>(values.data()),
                        values.size() * sizeof(int64_t));
  return tensor;
}

std::vector<std::string> trainedParameters(const Computed &computed) {
  std::vector<std::string> names;
  for (const Argument &argument : computed.arguments)
    if (argument.role == Role::Parameter)
      names.push_back(argument.name);
  return names;
}

// y = Resize(x, …), nearest, of x = {1, 2}; `inputs` are those behind x.
Model resizeModel(std::vector<std::string> inputs, const std::string &coordinates) {
  Model model = emptyModel();
  inputs.insert(inputs.begin(), "x");
  model.graph.inputs = {tensorInfo("x", kFloat, {2})};
  model.graph.nodes = {makeNode("Resize", inputs, {"y"},
                                {stringAttribute("coordinate_transformation_mode", coordinates),
                                 stringAttribute("nearest_mode", "floor")})};
  model.graph.outputs = {tensorInfo("y", kFloat, {4})};
  return model;
}

Computed resized(const Model &model) {
  SmallModel file(model);
  Tensor x(ElementType::F32, {2});
  x.values = {1, 2};
  return runModel(file.path(), {}, {{"x", x}});
}

TEST_CASE("scales that follow from named constants by several operators are known") {
  Model model = resizeModel({"", "scales"}, "asymmetric");
  model.graph.initializers = {storedFloats("resize.factors", {1, 3}, {1, 2, 3}),
                              storedIntegers("flat", {-1}), storedIntegers("one", {1}),
                              storedIntegers("two", {2})};
  std::vector<Node> before = {
      makeNode("Reshape", {"resize.factors", "flat"}, {"list"}),
      makeNode("Slice", {"list", "one", "two"}, {"part"}),
      makeNode("Concat", {"part"}, {"scales"}, {integerAttribute("axis", 0)}),
  };
  model.graph.nodes.insert(model.graph.nodes.begin(), before.begin(), before.end());
  Computed computed = resized(model);
  REQUIRE(computed.status.message() == "");
  CHECK(computed.outputs.at("y").values == std::vector<double>{1, 1, 2, 2});
  CHECK(trainedParameters(computed).empty());
}

TEST_CASE("a region that follows from named constants is known where scales are left out") {
  Model model = resizeModel({"region", "", "sizes"}, "tf_crop_and_resize");
  model.graph.initializers = {storedFloats("begin", {1}, {0}), storedFloats("end", {1}, {1}),
                              storedIntegers("sizes", {2})};
  model.graph.nodes.insert(
      model.graph.nodes.begin(),
      makeNode("Concat", {"begin", "end"}, {"region"}, {integerAttribute("axis", 0)}));
  model.graph.outputs = {tensorInfo("y", kFloat, {2})};
  Computed computed = resized(model);
  REQUIRE(computed.status.message() == "");
  CHECK(computed.outputs.at("y").values == std::vector<double>{1, 2});
}

TEST_CASE("a message on an operand that must be known names that operand") {
  Model model = resizeModel({"where", "", "sizes"}, "tf_crop_and_resize");
  model.graph.inputs.push_back(tensorInfo("where", kFloat, {2}));
  model.graph.initializers = {storedIntegers("sizes", {4})};
  SmallModel region(model);
  CHECK_THAT(importModel(region.path(), {}).status.message(),
             Catch::Contains("the region (input 1) depends on the input 'where'") &&
                 Catch::Contains("--value where=1,2, say") && !Catch::Contains("scales"));
  model = resizeModel({"", "by"}, "asymmetric");
  model.graph.inputs.push_back(tensorInfo("by", kFloat, {1}));
  SmallModel scales(model);
  CHECK_THAT(importModel(scales.path(), {}).status.message(),
             Catch::Contains("the scales (input 2) depends on the input 'by'"));
}

TEST_CASE("an operand that is data is not a setting even if a setting follows from it") {
  Model model = resizeModel({"", "scales"}, "asymmetric");
  model.graph.initializers = {storedFloats("factor", {1}, {1})};
  model.graph.nodes[0].inputs[0] = "scaled";
  model.graph.nodes.insert(
      model.graph.nodes.begin(),
      {makeNode("Mul", {"x", "weight"}, {"scaled"}), makeNode("Neg", {"bound"}, {"least"}),
       makeNode("Clip", {"y", "least"}, {"z"}), makeNode("Identity", {"factor"}, {"scales"})});
  model.graph.initializers.push_back(storedFloats("weight", {2}, {1, 1}));
  model.graph.initializers.push_back(storedFloats("bound", {}, {1}));
  model.graph.outputs = {tensorInfo("z", kFloat, {2})};
  Computed computed = resized(model);
  REQUIRE(computed.status.message() == "");
  CHECK(trainedParameters(computed) == std::vector<std::string>{"weight", "bound"});
}

TEST_CASE("an exponent without dims is a number, another one a parameter") {
  for (const std::vector<int64_t> &dims : {std::vector<int64_t>{}, {1}}) {
    Model model = emptyModel();
    model.graph.inputs = {tensorInfo("x", kFloat, {2})};
    model.graph.initializers = {storedFloats("weight", {2}, {1, 1}),
                                storedFloats("exponent", dims, {2})};
    model.graph.nodes = {makeNode("Mul", {"x", "weight"}, {"scaled"}),
                         makeNode("Pow", {"scaled", "exponent"}, {"y"})};
    model.graph.outputs = {tensorInfo("y", kFloat, {2})};
    Computed computed = resized(model);
    REQUIRE(computed.status.message() == "");
    CHECK(computed.outputs.at("y").values == std::vector<double>{1, 4});
    CHECK(trainedParameters(computed).size() == (dims.empty() ? 1 : 2));
  }
}

} // namespace
} // namespace cleave::onnx
