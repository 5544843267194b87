// Gradients that a model computes itself (the operator Gradient), where parts of it have no finite
// gradient: branches that are not taken, inactive rounds of loops, norms of zeros.
#include "passes/autodiff/Autodiff.h"
#include "test/unit/onnx/RunModel.h"
#include "test/unit/onnx/SmallModel.h"

#include <catch2/catch.hpp>

namespace cleave::onnx {
namespace {

Graph branch(std::vector<Node> nodes) {
  Graph graph;
  graph.outputs = {tensorInfo(nodes.back().outputs[0], kFloat, {2})};
  graph.nodes = std::move(nodes);
  return graph;
}

Tensor numbers(std::vector<int64_t> shape, std::vector<double> values) {
  Tensor out(ElementType::F32, std::move(shape));
  out.values = std::move(values);
  return out;
}

// The gradient of the sum of the model's y by its input x.
std::vector<double> gradient(Model model, const Arrays &inputs, ImportOptions options = {}) {
  model.opsets["ai.onnx.preview.training"] = 1;
  Attribute xs = stringsAttribute("xs", {"x"});
  Node node = makeNode("Gradient", {"x"}, {"dx"}, {xs, stringAttribute("y", "y")});
  node.domain = "ai.onnx.preview.training";
  model.graph.nodes.push_back(node);
  model.graph.outputs = {tensorInfo("dx", kFloat, {2})};
  options.differentiate = autodiff::buildGradients;
  SmallModel file(model);
  Computed computed = runModel(file.path(), options, inputs);
  REQUIRE(computed.status.message() == "");
  return computed.outputs.at("dx").values;
}

// y = f(x) of one node.
std::vector<double> gradientOf(const Node &node, const std::vector<double> &x) {
  Model model = emptyModel();
  model.graph.inputs = {tensorInfo("x", kFloat, {2})};
  model.graph.nodes = {node};
  return gradient(model, {{"x", numbers({2}, x)}});
}

TEST_CASE("a branch that is not taken gives no gradient, not even NaN") {
  Model model = emptyModel();
  model.graph.inputs = {tensorInfo("x", kFloat, {2}), tensorInfo("flag", kBool, {})};
  Graph inverse = branch({makeNode("Reciprocal", {"x"}, {"a"})}),
        square = branch({makeNode("Mul", {"x", "x"}, {"b"})});
  model.graph.nodes = {
      makeNode("If", {"flag"}, {"y"},
               {graphAttribute("then_branch", inverse), graphAttribute("else_branch", square)})};
  Tensor no(ElementType::Bool, {}, 0), yes(ElementType::Bool, {}, 1);
  using Values = std::vector<double>;
  CHECK(gradient(model, {{"x", numbers({2}, {0, 2})}, {"flag", no}}) == Values{0, 4});
  CHECK(gradient(model, {{"x", numbers({2}, {1, 2})}, {"flag", yes}}) == Values{-1, -0.25});
}

TEST_CASE("a branch inside a branch that is not taken gives no gradient") {
  Model model = emptyModel();
  model.graph.inputs = {tensorInfo("x", kFloat, {2}), tensorInfo("flag", kBool, {}),
                        tensorInfo("other", kBool, {})};
  Graph root = branch({makeNode("Sqrt", {"x"}, {"a"})}),
        log = branch({makeNode("Log", {"x"}, {"b"})}),
        line = branch({makeNode("Neg", {"x"}, {"c"})});
  Graph outer =
      branch({makeNode("If", {"other"}, {"d"},
                       {graphAttribute("then_branch", root), graphAttribute("else_branch", log)})});
  model.graph.nodes = {
      makeNode("If", {"flag"}, {"y"},
               {graphAttribute("then_branch", outer), graphAttribute("else_branch", line)})};
  for (double other : {0.0, 1.0}) {
    Arrays inputs{{"x", numbers({2}, {0, 0})},
                  {"flag", Tensor(ElementType::Bool, {}, 0)},
                  {"other", Tensor(ElementType::Bool, {}, other)}};
    CHECK(gradient(model, inputs) == std::vector<double>{-1, -1});
  }
}

TEST_CASE("inactive rounds of a loop give no gradient") {
  Graph body;
  body.inputs = {tensorInfo("i", kInt64, {}), tensorInfo("go", kBool, {}),
                 tensorInfo("a", kFloat, {2})};
  body.nodes = {makeNode("Sub", {"a", "one"}, {"b"}), makeNode("Reciprocal", {"b"}, {"next"}),
                makeNode("ReduceMax", {"next"}, {"most"}, {integerAttribute("keepdims", 0)}),
                makeNode("Greater", {"most", "one"}, {"on"})};
  body.outputs = {tensorInfo("on", kBool, {}), tensorInfo("next", kFloat, {2})};
  Model model = emptyModel();
  model.graph.inputs = {tensorInfo("x", kFloat, {2}), tensorInfo("one", kFloat, {}),
                        tensorInfo("rounds", kInt64, {}), tensorInfo("go0", kBool, {})};
  model.graph.nodes = {
      makeNode("Loop", {"rounds", "go0", "x"}, {"y"}, {graphAttribute("body", body)})};
  ImportOptions options;
  options.values["rounds"] = {3};
  // 1 / (x - 1) is {0.5, 1}; another round would divide by 0.
  Arrays inputs{{"x", numbers({2}, {3, 2})},
                {"one", numbers({}, {1})},
                {"go0", Tensor(ElementType::Bool, {}, 1)}};
  CHECK(gradient(model, inputs, options) == std::vector<double>{-0.25, -1});
}

TEST_CASE("norms of zeros have gradients") {
  Node norm = makeNode("ReduceL2", {"x"}, {"y"}, {integerAttribute("keepdims", 0)});
  CHECK(gradientOf(norm, {0, 0}) == std::vector<double>{0, 0});
  CHECK(gradientOf(norm, {0, -2}) == std::vector<double>{0, -1});
  CHECK(gradientOf(makeNode("LpNormalization", {"x"}, {"y"}), {0, 0}) == std::vector<double>{1, 1});
}

// y = f(x, 0, 1) of one node with two bounds, exported from a call of `target`.
std::vector<double> gradientOfBounded(Node node, const std::string &target,
                                      const std::vector<double> &x) {
  if (!target.empty())
    node.metadata["pkg.torch.onnx.fx_node"] =
        "%y : [num_users=1] = call_function[target=torch.ops." + target;
  Model model = emptyModel();
  model.graph.inputs = {tensorInfo("x", kFloat, {2}), tensorInfo("low", kFloat, {}),
                        tensorInfo("high", kFloat, {})};
  model.graph.nodes = {node};
  return gradient(model,
                  {{"x", numbers({2}, x)}, {"low", numbers({}, {0})}, {"high", numbers({}, {1})}});
}

TEST_CASE("at a bound a number has slope 0, a tensor shares the gradient") {
  using Values = std::vector<double>;
  Node clip = makeNode("Clip", {"x", "low", "high"}, {"y"}),
       max = makeNode("Max", {"x", "low"}, {"y"}), min = makeNode("Min", {"x", "high"}, {"y"});
  const std::string pair = "aten.minimum.default](args = (%maximum, %clone), kwargs = {})",
                    tensor = "aten.clamp.Tensor](args = (%x, %low), kwargs = {})",
                    number = "aten.clamp.Tensor](args = (%x, %scalar_tensor_default), kwargs = {})";
  CHECK(gradientOfBounded(clip, "", {0, 1}) == Values{0, 0});
  CHECK(gradientOfBounded(clip, pair, {0, 1}) == Values{0.5, 0.5});
  CHECK(gradientOfBounded(max, "", {0, 1}) == Values{0.5, 1});
  CHECK(gradientOfBounded(max, tensor, {0, 1}) == Values{0.5, 1});
  CHECK(gradientOfBounded(max, number, {0, 1}) == Values{0, 1});
  CHECK(gradientOfBounded(min, number, {0, 1}) == Values{1, 0});
}

TEST_CASE("of equal elements all share the gradient of a maximum, one has that of PyTorch's max") {
  using Values = std::vector<double>;
  Node max = makeNode("ReduceMax", {"x"}, {"y"}, {integerAttribute("keepdims", 0)});
  CHECK(gradientOf(max, {3, 3}) == Values{0.5, 0.5});
  max.metadata["pkg.torch.onnx.fx_node"] =
      "%max_1 : [num_users=2] = call_function[target=torch.ops.aten.max.dim](args = (%x, 0))";
  CHECK(gradientOf(max, {3, 3}) == Values{1, 0});
}

// The note of PyTorch's exporter about a call.
std::string noteOf(const std::string &call) {
  return "%y : [num_users=1] = call_function[target=torch.ops.aten." + call + ", kwargs = {})";
}

// The gradient of one node, exported from a call of PyTorch. It reads `matrix`, the x in this
// shape, `integers`, and `weights`, which are 1 and 5.
std::vector<double> gradientOfCall(Node node, const std::string &call, std::vector<double> shape,
                                   const std::vector<double> &x, const Tensor &integers) {
  node.metadata["pkg.torch.onnx.fx_node"] = noteOf(call);
  Model model = emptyModel();
  model.graph.inputs = {tensorInfo("x", kFloat, {2}), tensorInfo("shape", kInt64, {2}),
                        tensorInfo("integers", kInt64, integers.shape)};
  model.graph.initializers = {storedFloats("weights", {2}, {1, 5})};
  model.graph.nodes = {makeNode("Reshape", {"x", "shape"}, {"matrix"}), node};
  ImportOptions options;
  options.values = {{"shape", std::move(shape)}};
  return gradient(model, {{"x", numbers({2}, x)}, {"integers", integers}}, options);
}

TEST_CASE("no gradient reaches the padding of an embedding, which PyTorch's exporter only notes") {
  const Node rows = makeNode("Gather", {"matrix", "integers"}, {"y"});
  Tensor words(ElementType::I64, {3});
  words.values = {1, 0, 1};
  for (const auto &[call, slope] : {std::pair("embedding.default](args = (%table, %words)", 1.0),
                                    std::pair("embedding.default](args = (%table, %words, 1)", 0.0),
                                    std::pair("gather.default](args = (%table, %words, 1)", 1.0)}) {
    INFO(call);
    CHECK(gradientOfCall(rows, call, {2, 1}, {3, 4}, words) == std::vector<double>{1, 2 * slope});
  }
}

// The gradient of a score sums, over the classes, share of the label x weight x slope of -log p,
// and divides by the weight of the label. Shares are 3/4 and 1/4, slopes -1/2 and 1/2.
TEST_CASE("a cross-entropy has the smoothing that PyTorch's exporter only notes") {
  const Tensor label(ElementType::I64, {1}, 0);
  for (const auto &[weights, slope] :
       {std::pair("None", 0.25 * 1 - 0.75 * 1), std::pair("weights", 0.25 * 5 - 0.75 * 1)}) {
    INFO(weights);
    std::vector<std::string> inputs = {"matrix", "integers"};
    if (weights == std::string("weights"))
      inputs.push_back(weights);
    const std::vector<double> found =
        gradientOfCall(makeNode("SoftmaxCrossEntropyLoss", inputs, {"y"}),
                       std::string("cross_entropy_loss.default](args = (%scores, %label, ") +
                           weights + ", 1, -100, 0.5)",
                       {1, 2}, {0, 0}, label);
    CHECK(found[0] == Approx(slope / 2));
    CHECK(found[1] == Approx(-slope / 2));
  }
}

TEST_CASE("the mean of a scatter, which PyTorch's exporter writes as a replacement, is refused") {
  Node node = makeNode("ScatterElements", {"x", "places", "x"}, {"y"});
  Model model = emptyModel();
  model.graph.inputs = {tensorInfo("x", kFloat, {2}), tensorInfo("places", kInt64, {2})};
  model.graph.outputs = {tensorInfo("y", kFloat, {2})};
  for (const auto &[how, message] : {std::pair("sum", ""), std::pair("mean", ".pt2")}) {
    node.metadata["pkg.torch.onnx.fx_node"] =
        noteOf(std::string("scatter_reduce.two](args = (%x, 0, %places, %x, ") + how + ")");
    model.graph.nodes = {node};
    CHECK_THAT(importModel(SmallModel(model).path(), {}).status.message(),
               Catch::Contains(message));
  }
}

TEST_CASE("a leaky ReLU has PyTorch's slope at 0") {
  std::vector<double> slopes = gradientOf(makeNode("LeakyRelu", {"x"}, {"y"}), {0, 3});
  CHECK(slopes[0] == Approx(0.01));
  CHECK(slopes[1] == 1);
}

} // namespace
} // namespace cleave::onnx
