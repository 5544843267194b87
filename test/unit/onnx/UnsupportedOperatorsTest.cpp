// One message lists everything that cannot be imported: operators, attributes, inputs and types,
// those in subgraphs included, without errors that only follow from others.
#include "test/unit/onnx/RunModel.h"
#include "test/unit/onnx/SmallModel.h"

#include <catch2/catch.hpp>

namespace cleave::onnx {
namespace {

std::string problem(const Model &model, const ImportOptions &options = {}) {
  SmallModel file(model);
  Status status = importModel(file.path(), options).status;
  CHECK(status.kind() == StatusKind::UserError);
  return status.message();
}

size_t count(const std::string &text, const std::string &word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++found;
  return found;
}

// A branch of one node, whose output is the branch's.
Graph branch(const Node &node) {
  Graph graph;
  graph.name = "branch";
  graph.nodes = {node};
  graph.outputs = {tensorInfo(node.outputs[0], kFloat, {2})};
  return graph;
}

TEST_CASE("one message lists everything that is not supported") {
  Model model = emptyModel();
  model.opsets["com.example"] = 1;
  model.graph.inputs = {tensorInfo("x", kFloat, {2}), tensorInfo("z", kComplex, {2})};
  Node foreign = makeNode("Blend", {"x"}, {"b"});
  foreign.domain = "com.example";
  model.graph.nodes = {
      makeNode("Frobnicate", {"x"}, {"a"}),
      foreign,
      makeNode("Relu", {"x"}, {"c"}, {integerAttribute("speed", 9)}),
      makeNode("Softmax", {"x", "x"}, {"d"}),
      makeNode("Neg", {"z"}, {"e"}),
      makeNode("Add", {"a", "c"}, {"f"}),
  };
  model.graph.outputs = {tensorInfo("f", kFloat, {2})};
  std::string message = problem(model);
  for (const char *word :
       {"Frobnicate", "Blend of the domain com.example", "'speed'", "Softmax", "complex64", "'z'"})
    CHECK_THAT(message, Catch::Contains(word));
  // Nodes that only read an unsupported operator's output are not listed.
  CHECK_THAT(message, !Catch::Contains("Add") && !Catch::Contains("Neg"));
}

TEST_CASE("an error in several places is listed once, with the places") {
  Model model = emptyModel();
  model.graph.inputs = {tensorInfo("x", kFloat, {2})};
  for (int i = 0; i < 6; ++i)
    model.graph.nodes.push_back(
        makeNode("Relu", {"x"}, {"y" + std::to_string(i)}, {integerAttribute("speed", 9)}));
  model.graph.outputs = {tensorInfo("y0", kFloat, {2})};
  std::string message = problem(model);
  CHECK(count(message, "'speed'") == 1);
  CHECK_THAT(message, Catch::Contains("'y0'") && Catch::Contains("3 more"));
}

TEST_CASE("both branches of a condition that depends on data are checked") {
  Model model = emptyModel();
  model.graph.inputs = {tensorInfo("x", kFloat, {2}), tensorInfo("flag", kBool, {})};
  model.graph.nodes = {makeNode(
      "If", {"flag"}, {"y"},
      {graphAttribute("then_branch",
                      branch(makeNode("Relu", {"x"}, {"a"}, {integerAttribute("speed", 9)}))),
       graphAttribute("else_branch",
                      branch(makeNode("Neg", {"x"}, {"b"}, {integerAttribute("twist", 1)})))})};
  model.graph.outputs = {tensorInfo("y", kFloat, {2})};
  std::string message = problem(model);
  CHECK_THAT(message, Catch::Contains("If node 'y': Relu node 'a'") && Catch::Contains("'speed'") &&
                          Catch::Contains("Neg node 'b'") && Catch::Contains("'twist'"));
}

TEST_CASE("an unknown operator in a branch that is never taken is not an error") {
  Model model = emptyModel();
  model.graph.inputs = {tensorInfo("x", kFloat, {2}), tensorInfo("flag", kBool, {})};
  model.graph.nodes = {
      makeNode("If", {"flag"}, {"y"},
               {graphAttribute("then_branch", branch(makeNode("Relu", {"x"}, {"a"}))),
                graphAttribute("else_branch", branch(makeNode("Frobnicate", {"x"}, {"b"})))})};
  model.graph.outputs = {tensorInfo("y", kFloat, {2})};
  ImportOptions options;
  options.values["flag"] = {1};
  SmallModel file(model);
  Computed computed = runModel(file.path(), options, {{"x", Tensor(ElementType::F32, {2}, -1)}});
  REQUIRE(computed.status.isOk());
  CHECK(computed.outputs.at("y").values == std::vector<double>{0, 0});
  CHECK_THAT(problem(model), Catch::Contains("Frobnicate"));
}

// y = x through Reshape to `rank` dims and an LSTM, whose operands have 3 dims.
Graph recurrentBranch(int64_t rank) {
  Graph graph = branch(makeNode("LSTM", {"cube", "w", "r"}, {"", "out"}));
  Attribute value;
  value.name = "value_ints", value.type = AttributeType::Ints;
  value.integers.assign(static_cast<size_t>(rank), 1);
  value.integers[0] = 2;
  graph.nodes = {makeNode("Constant", {}, {"dims"}, {value}),
                 makeNode("Reshape", {"x", "dims"}, {"cube"}), graph.nodes[0]};
  graph.outputs = {tensorInfo("out", kFloat, {1, 1, 3})};
  return graph;
}

TEST_CASE("an error in a branch that depends on data names the input that decides") {
  Model model = emptyModel();
  model.graph.inputs = {tensorInfo("x", kFloat, {2}), tensorInfo("sr", kInt64, {}),
                        tensorInfo("w", kFloat, {1, 12, 1}), tensorInfo("r", kFloat, {1, 12, 3}),
                        tensorInfo("rate", kInt64, {})};
  model.graph.nodes = {makeNode("Equal", {"sr", "rate"}, {"fast"}),
                       makeNode("If", {"fast"}, {"y"},
                                {graphAttribute("then_branch", recurrentBranch(3)),
                                 graphAttribute("else_branch", recurrentBranch(5))})};
  model.graph.outputs = {tensorInfo("y", kFloat, {1, 1, 3})};
  ImportOptions options;
  options.values["rate"] = {16000};
  CHECK_THAT(problem(model, options), Catch::Contains("has operands of 5 dims, expected 3") &&
                                          Catch::Contains("depends on the input 'sr'") &&
                                          Catch::Contains("--value sr=1, say"));
  options.values["sr"] = {16000};
  SmallModel file(model);
  CHECK(importModel(file.path(), options).status.message() == "");
}

TEST_CASE("a branch that only reads unsupported outputs is not listed") {
  Model model = emptyModel();
  model.graph.inputs = {tensorInfo("x", kFloat, {2}), tensorInfo("flag", kBool, {})};
  model.graph.nodes = {
      makeNode("Relu", {"x"}, {"a"}, {integerAttribute("speed", 9)}),
      makeNode("If", {"flag"}, {"y"},
               {graphAttribute("then_branch", branch(makeNode("Neg", {"a"}, {"b"}))),
                graphAttribute("else_branch", branch(makeNode("Abs", {"a"}, {"c"})))})};
  model.graph.outputs = {tensorInfo("y", kFloat, {2})};
  CHECK_THAT(problem(model), Catch::Contains("'speed'") && !Catch::Contains("If node"));
}

TEST_CASE("an input that the handler does not read is an error") {
  Model model = emptyModel();
  model.opsets["com.microsoft"] = 1;
  model.graph.inputs = {tensorInfo("words", kInt32, {2, 3})};
  for (const char *name : {"table", "positions", "segments"})
    model.graph.inputs.push_back(tensorInfo(name, kFloat, {5, 4}));
  for (const char *name : {"scale", "shift"})
    model.graph.inputs.push_back(tensorInfo(name, kFloat, {4}));
  // A table of segments, but no segments.
  Node node = makeNode("EmbedLayerNormalization",
                       {"words", "", "table", "positions", "segments", "scale", "shift"}, {"y"});
  node.domain = "com.microsoft";
  model.graph.nodes = {node};
  model.graph.outputs = {tensorInfo("y", kFloat, {2, 3, 4})};
  CHECK_THAT(problem(model), Catch::Contains("input 4"));
}

// The message for a model of this node over these inputs; its output is `y`.
std::string problemOf(Node node, const std::vector<ValueInfo> &inputs, int64_t opset = 23) {
  Model model = emptyModel();
  model.opsets = {{"", opset}, {"com.microsoft", 1}};
  model.graph.inputs = inputs;
  model.graph.nodes = {std::move(node)};
  model.graph.outputs = {tensorInfo("y", kFloat, {2})};
  return problem(model);
}

TEST_CASE("operands that do not fit their operator are user errors") {
  auto x = [](std::vector<int64_t> dims) { return tensorInfo("x", kFloat, dims); };
  CHECK_THAT(problemOf(makeNode("GatherND", {"x", "i"}, {"y"}),
                       {x({2, 3}), tensorInfo("i", kInt64, {1, 1000000000})}),
             Catch::Contains("1000000000 coordinates for 2 dims"));
  CHECK_THAT(problemOf(makeNode("LSTM", {"x", "w", "r"}, {"", "y"}),
                       {x({4, 1, 2}), tensorInfo("w", kDouble, {1, 12, 2}),
                        tensorInfo("r", kDouble, {1, 12, 3})}),
             Catch::Contains("float32 and float64"));
  CHECK_THAT(problemOf(makeNode("LSTM", {"x", "w", "r"}, {"", "y"}),
                       {x({1000000000, 1, 2}), tensorInfo("w", kFloat, {1, 12, 2}),
                        tensorInfo("r", kFloat, {1, 12, 3})}),
             Catch::Contains("1000000000 time steps"));
  CHECK_THAT(problemOf(makeNode("And", {"x", "x"}, {"y"}), {x({2})}, 6),
             Catch::Contains("expected bool"));
  CHECK_THAT(problemOf(makeNode("Attention", {"q", "x", "x"}, {"y"}),
                       {tensorInfo("q", kFloat, {2, 3, 4, 8}), x({5, 3, 6, 8})}),
             Catch::Contains("[2, 3, 4, 8]"));
  Node norm = makeNode("SkipLayerNormalization", {"x", "x", "scale"}, {"y"});
  norm.domain = "com.microsoft";
  CHECK_THAT(problemOf(norm, {x({2, 3, 4}), tensorInfo("scale", kInt32, {4})}),
             Catch::Contains("int32"));
  CHECK_THAT(
      problemOf(makeNode("GatherND", {"x", "i"}, {"y"}), {x({2, 3}), tensorInfo("i", kInt64, {})}),
      Catch::Contains("expected fewer than the dims of both operands"));
}

} // namespace
} // namespace cleave::onnx
