// Inputs that the file does not describe, and subgraphs that do not fit their node.
#include "test/unit/onnx/RunModel.h"
#include "test/unit/onnx/SmallModel.h"

#include <catch2/catch.hpp>

namespace cleave::onnx {
namespace {

std::string saidOf(const Model &model, const ImportOptions &options = {}) {
  SmallModel file(model);
  Status status = importModel(file.path(), options).status;
  CHECK(status.kind() == StatusKind::UserError);
  return status.message();
}

// A model that negates its input.
Model negating(const ValueInfo &input) {
  Model model = emptyModel();
  model.graph.inputs = {input};
  model.graph.nodes = {makeNode("Neg", {input.name}, {"y"})};
  model.graph.outputs = {tensorInfo("y", kFloat, {2})};
  return model;
}

// A subgraph of one node over the given inputs.
Graph subgraph(const Node &node, std::vector<ValueInfo> inputs = {}) {
  Graph graph;
  graph.name = "body";
  graph.inputs = std::move(inputs);
  graph.nodes = {node};
  for (const std::string &output : node.outputs)
    graph.outputs.push_back(tensorInfo(output, kFloat, {2}));
  return graph;
}

// A model of one node with subgraphs over x: float32[2], and flag: bool[].
Model around(const Node &node) {
  Model model = emptyModel();
  model.graph.inputs = {tensorInfo("x", kFloat, {2}), tensorInfo("flag", kBool, {})};
  model.graph.nodes = {node};
  model.graph.outputs = {tensorInfo("y", kFloat, {2})};
  return model;
}

TEST_CASE("an input without type or shape is asked for") {
  ValueInfo input = tensorInfo("x", 0, {2});
  CHECK_THAT(saidOf(negating(input)), Catch::Contains("input 'x' has no type; give --input x="));
  input = tensorInfo("x", kFloat, {});
  input.hasShape = false;
  CHECK_THAT(saidOf(negating(input)),
             Catch::Contains("input 'x' has no usable shape; give --input x="));
}

TEST_CASE("an input of strings needs its strings, and numbers are not strings") {
  CHECK_THAT(saidOf(negating(tensorInfo("x", kString, {2}))),
             Catch::Contains("input 'x' has strings, which exist while importing only: give "
                             "--value x=red,green, say"));
  ImportOptions options;
  options.strings["x"] = {"red", "green"};
  CHECK_THAT(saidOf(negating(tensorInfo("x", kFloat, {2})), options),
             Catch::Contains("--value x=…: found strings, expected numbers"));
  CHECK_THAT(saidOf(negating(tensorInfo("x", kString, {2})), options), Catch::Contains("strings"));
}

TEST_CASE("branches that depend on data give the same types") {
  auto of = [](const Graph &yes, const Graph &no) {
    return saidOf(
        around(makeNode("If", {"flag"}, {"y"},
                        {graphAttribute("then_branch", yes), graphAttribute("else_branch", no)})));
  };
  Graph half = subgraph(makeNode("ReduceSum", {"x"}, {"b"}, {integerAttribute("keepdims", 1)}));
  CHECK_THAT(of(subgraph(makeNode("Neg", {"x"}, {"a"})), half),
             Catch::Contains("has outputs whose shapes or types depend on a condition that "));
  Graph two = subgraph(makeNode("Neg", {"x"}, {"a"}));
  two.outputs.push_back(two.outputs[0]);
  CHECK_THAT(of(subgraph(makeNode("Abs", {"x"}, {"b"})), two), Catch::Contains("outputs"));
}

TEST_CASE("a scan walks along inputs of one length") {
  auto of = [](const std::vector<std::string> &inputs, int64_t walked, size_t bodyInputs) {
    std::vector<ValueInfo> rows;
    for (size_t i = 0; i < bodyInputs; ++i)
      rows.push_back(tensorInfo("r" + std::to_string(i), kFloat, {}));
    Model model =
        around(makeNode("Scan", inputs, {"y"},
                        {graphAttribute("body", subgraph(makeNode("Neg", {"r0"}, {"out"}), rows)),
                         integerAttribute("num_scan_inputs", walked)}));
    model.graph.inputs.push_back(tensorInfo("long", kFloat, {3}));
    return saidOf(model);
  };
  CHECK_THAT(of({"x"}, 0, 1), Catch::Contains("has 1 inputs, of which it walks along 0, and a "
                                              "body with 1 outputs"));
  CHECK_THAT(of({"x", "long"}, 2, 2),
             Catch::Contains("walks along dims of different sizes 2 and 3"));
  CHECK_THAT(of({"x"}, 1, 2), Catch::Contains("has a subgraph with 2 inputs, but gives it 1"));
}

TEST_CASE("an input that is needed is not left out") {
  CHECK_THAT(saidOf(around(makeNode("Add", {"", "x"}, {"y"}))),
             Catch::Contains("leaves out input 0, which it needs"));
}

TEST_CASE("a loop may leave out its condition, or the number of rounds") {
  std::vector<ValueInfo> inputs = {tensorInfo("i", kInt64, {}), tensorInfo("go", kBool, {}),
                                   tensorInfo("v", kFloat, {2})};
  Graph body = subgraph(makeNode("Neg", {"v"}, {"w"}), inputs);
  body.outputs.insert(body.outputs.begin(), tensorInfo("go", kBool, {}));
  auto imports = [&](const std::string &rounds, const std::string &condition) {
    Model model =
        around(makeNode("Loop", {rounds, condition, "x"}, {"y"}, {graphAttribute("body", body)}));
    StoredTensor three;
    three.name = "three";
    three.dataType = kInt64;
    three.decoded = std::string("\3\0\0\0\0\0\0\0", 8);
    model.graph.initializers.push_back(three);
    SmallModel file(model);
    return importModel(file.path(), {}).status.message();
  };
  CHECK(imports("three", "") == "");
  CHECK(imports("three", "flag") == "");
}

TEST_CASE("a loop without an end is refused") {
  std::vector<ValueInfo> inputs = {tensorInfo("i", kInt64, {}), tensorInfo("go", kBool, {}),
                                   tensorInfo("v", kFloat, {2})};
  Graph body = subgraph(makeNode("Neg", {"v"}, {"w"}), inputs);
  body.outputs.insert(body.outputs.begin(), tensorInfo("go", kBool, {}));
  Model model = around(makeNode("Loop", {"", "", "x"}, {"y"}, {graphAttribute("body", body)}));
  CHECK_THAT(saidOf(model), Catch::Contains("runs for more than ") &&
                                Catch::Contains(" rounds, which are more than Cleave unrolls"));
  body.outputs.pop_back();
  model = around(makeNode("Loop", {"", "", "x"}, {"y"}, {graphAttribute("body", body)}));
  CHECK_THAT(saidOf(model), Catch::Contains("has a body with 1 outputs for 1 loop-carried values"));
}

} // namespace
} // namespace cleave::onnx
