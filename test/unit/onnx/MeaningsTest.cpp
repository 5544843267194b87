// Forms of operators that few exporters write and conformance tests do not cover, and files that
// contradict themselves.
#include "compiler/frontend/onnx/file/Functions.h"
#include "test/unit/onnx/RunModel.h"
#include "test/unit/onnx/SmallModel.h"

#include <catch2/catch.hpp>

namespace cleave::onnx {
namespace {

Model modelOf(const Node &node, std::vector<ValueInfo> inputs, const ValueInfo &output) {
  Model model = emptyModel();
  model.graph.inputs = std::move(inputs);
  model.graph.nodes = {node};
  model.graph.outputs = {output};
  return model;
}

TEST_CASE("a batch norm in training form uses the batch's statistics even with one output") {
  std::vector<ValueInfo> inputs{tensorInfo("x", kFloat, {2, 1})};
  for (const char *name : {"scale", "shift", "mean", "variance"})
    inputs.push_back(tensorInfo(name, kFloat, {1}));
  SmallModel file(
      modelOf(makeNode("BatchNormalization", {"x", "scale", "shift", "mean", "variance"}, {"y"},
                       {integerAttribute("training_mode", 1)}),
              inputs, tensorInfo("y", kFloat, {2, 1})));
  Arrays arrays{{"x", Tensor(ElementType::F32, {2, 1})}};
  arrays["x"].values = {100, 102};
  for (const char *name : {"scale", "shift", "mean", "variance"})
    arrays[name] = Tensor(ElementType::F32, {1}, 1);
  Computed computed = runModel(file.path(), {}, arrays);
  REQUIRE(computed.status.isOk());
  CHECK(computed.outputs.at("y").values[0] == Approx(0).margin(1e-4));
  CHECK(computed.outputs.at("y").values[1] == Approx(2).margin(1e-4));
}

TEST_CASE("the mask of a dropout that draws random numbers cannot be read") {
  Model model = modelOf(makeNode("Dropout", {"x", "ratio", "training"}, {"y", "mask"}),
                        {tensorInfo("x", kFloat, {2}), tensorInfo("ratio", kFloat, {}),
                         tensorInfo("training", 9, {})},
                        tensorInfo("y", kFloat, {2}));
  ImportOptions options;
  options.values = {{"ratio", {0.5}}, {"training", {1}}};
  SmallModel unread(model);
  CHECK(importModel(unread.path(), options).status.isOk());
  model.graph.outputs.push_back(tensorInfo("mask", 9, {2}));
  SmallModel read(model);
  CHECK_THAT(importModel(read.path(), options).status.message(),
             Catch::Contains("'mask'") && Catch::Contains("does not compute it"));
  options.values["training"] = {0};
  CHECK(importModel(read.path(), options).status.isOk());
}

TEST_CASE("one-hot works for depths that the type of the indices cannot represent") {
  SmallModel file(modelOf(makeNode("OneHot", {"at", "depth", "values"}, {"y"}),
                          {tensorInfo("at", kUint8, {1}), tensorInfo("depth", kInt64, {}),
                           tensorInfo("values", kFloat, {2})},
                          tensorInfo("y", kFloat, {1, 300})));
  ImportOptions options;
  options.values["depth"] = {300};
  Arrays arrays{{"at", Tensor(ElementType::U8, {1}, 0)}, {"values", Tensor(ElementType::F32, {2})}};
  arrays["values"].values = {0, 1};
  Computed computed = runModel(file.path(), options, arrays);
  REQUIRE(computed.status.isOk());
  std::vector<double> expected(300, 0);
  expected[0] = 1;
  CHECK(computed.outputs.at("y").values == expected);
}

TEST_CASE("an output that differs from its declaration gives a warning") {
  auto remarksOf = [](const ValueInfo &output) {
    SmallModel file(
        modelOf(makeNode("Relu", {"x"}, {"y"}), {tensorInfo("x", kFloat, {2, 3})}, output));
    return importModel(file.path(), {}).remarks;
  };
  CHECK(remarksOf(tensorInfo("y", kFloat, {2, 3})).empty());
  std::vector<Remark> remarks = remarksOf(tensorInfo("y", kFloat, {2, 4}));
  REQUIRE(remarks.size() == 1);
  CHECK(remarks[0].name == "y");
  CHECK(remarks[0].text ==
        "the file declares this output as float32[2, 4], but Cleave computes float32[2, 3]");
  CHECK(remarksOf(tensorInfo("y", kInt64, {2, 3})).size() == 1);
}

TEST_CASE("models without outputs and inputs without a type are errors") {
  Model model = modelOf(makeNode("Relu", {"x"}, {"y"}), {tensorInfo("x", kFloat, {2})},
                        tensorInfo("y", kFloat, {2}));
  model.graph.outputs.clear();
  SmallModel silent(model);
  CHECK_THAT(importModel(silent.path(), {}).status.message(), Catch::Contains("has no outputs"));
  model.graph.outputs = {tensorInfo("y", kFloat, {2})};
  model.graph.inputs[0].dataType = 0;
  SmallModel untyped(model);
  CHECK_THAT(importModel(untyped.path(), {}).status.message(),
             Catch::Contains("has no type") && Catch::Contains("--input x=float32[2], say"));
}

TEST_CASE("examples of --input have the input's own type and dims") {
  Model model = modelOf(makeNode("Relu", {"x"}, {"y"}), {tensorInfo("x", kInt64, {})},
                        tensorInfo("y", kInt64, {2}));
  model.graph.inputs[0].hasShape = false;
  SmallModel shapeless(model);
  CHECK_THAT(importModel(shapeless.path(), {}).status.message(),
             Catch::Contains("no usable shape") &&
                 Catch::Contains("--input x=int64[batch,8], say"));
  model.graph.inputs = {tensorInfo("x", kFloat, {2, 1000})};
  model.graph.inputs[0].dims[0] = {std::nullopt, "rows"};
  ImportOptions options;
  options.inputs = {{.name = "x", .element = std::nullopt, .dims = {}, .literal = "3"}};
  SmallModel wide(model);
  CHECK_THAT(importModel(wide.path(), options).status.message(),
             Catch::Contains("as in x=float32[rows,1000]"));
}

TEST_CASE("functions of one name and domain are told apart by their overloads") {
  Model model = emptyModel();
  for (const char *overload : {"first", "second"}) {
    Function function;
    function.domain = "custom", function.name = "activation", function.overload = overload;
    function.inputs = {"x"}, function.outputs = {"y"};
    function.nodes = {makeNode(overload == std::string("first") ? "Relu" : "Neg", {"x"}, {"y"})};
    model.functions.push_back(function);
    Node call = makeNode("activation", {"x"}, {overload});
    call.domain = "custom", call.overload = overload;
    model.graph.nodes.push_back(call);
  }
  inlineFunctions(model);
  REQUIRE(model.graph.nodes.size() == 2);
  CHECK(model.graph.nodes[0].op == "Relu");
  CHECK(model.graph.nodes[1].op == "Neg");
}

} // namespace
} // namespace cleave::onnx
