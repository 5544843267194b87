// Weights that subgraphs read: initializers of the model and of subgraphs are parameters where they
// are data, and constants where they are settings or running statistics.
#include "compiler/frontend/onnx/WeightExport.h"
#include "test/unit/onnx/RunModel.h"
#include "test/unit/onnx/SmallModel.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

namespace cleave::onnx {
namespace {

Graph branch(std::vector<Node> nodes, const std::string &output) {
  Graph graph;
  graph.nodes = std::move(nodes);
  graph.outputs = {tensorInfo(output, kFloat, {2})};
  return graph;
}

// y = flag ? yes : no, for inputs x of two numbers and flag.
Model modelOf(const Graph &yes, const Graph &no) {
  Model model = emptyModel();
  model.graph.inputs = {tensorInfo("x", kFloat, {2}), tensorInfo("flag", kBool, {})};
  model.graph.nodes = {
      makeNode("If", {"flag"}, {"y"},
               {graphAttribute("then_branch", yes), graphAttribute("else_branch", no)})};
  model.graph.outputs = {tensorInfo("y", kFloat, {2})};
  return model;
}

// A model with two branches: one adds `fc.bias` = {1, 2}, the other multiplies by `fc.weight` = {3,
// 4}.
Model affineModel() {
  Model model = modelOf(branch({makeNode("Add", {"x", "fc.bias"}, {"a"})}, "a"),
                        branch({makeNode("Mul", {"x", "fc.weight"}, {"b"})}, "b"));
  model.graph.initializers = {storedFloats("fc.bias", {2}, {1, 2}),
                              storedFloats("fc.weight", {2}, {3, 4})};
  return model;
}

// The arguments of this role, sorted.
std::vector<std::string> named(const Computed &computed, Role role) {
  std::vector<std::string> names;
  for (const Argument &argument : computed.arguments)
    if (argument.role == role)
      names.push_back(argument.name);
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

Names parametersOf(const Model &model, const ImportOptions &options = {}) {
  SmallModel file(model);
  Computed computed = importModel(file.path(), options);
  CHECK(computed.status.message() == "");
  return named(computed, Role::Parameter);
}

// y of x = {1, 1}.
std::vector<double> outputOf(const std::string &path, double flag) {
  Arrays inputs{{"x", Tensor(ElementType::F32, {2}, 1)},
                {"flag", Tensor(ElementType::Bool, {}, flag)}};
  Computed computed = runModel(path, {}, inputs);
  REQUIRE(computed.status.message() == "");
  return computed.outputs.at("y").values;
}

TEST_CASE("the model's weights that only branches read are parameters") {
  Model model = affineModel();
  SmallModel file(model);
  CHECK(parametersOf(model) == Names{"fc.bias", "fc.weight"});
  CHECK(outputOf(file.path(), 1) == std::vector<double>{2, 3});
  CHECK(outputOf(file.path(), 0) == std::vector<double>{3, 4});
  ImportOptions options;
  options.values["flag"] = {1};
  CHECK(parametersOf(model, options) == Names{"fc.bias"});
}

TEST_CASE("weights are found in branches of branches, behind Identity, and as a branch's output") {
  Graph inner = branch({makeNode("Add", {"x", "deep"}, {"c"})}, "c");
  Graph choice = branch({makeNode("If", {"flag"}, {"d"},
                                  {graphAttribute("then_branch", inner),
                                   graphAttribute("else_branch", branch({}, "given"))})},
                        "d");
  Model model = modelOf(
      choice,
      branch({makeNode("Identity", {"alias"}, {"e"}), makeNode("Mul", {"x", "e"}, {"f"})}, "f"));
  model.graph.nodes.insert(model.graph.nodes.begin(), makeNode("Identity", {"passed"}, {"alias"}));
  for (const char *name : {"deep", "given", "passed", "unread"})
    model.graph.initializers.push_back(storedFloats(name, {2}, {1, 2}));
  CHECK(parametersOf(model) == Names{"deep", "given", "passed"});
}

TEST_CASE("a name that a branch defines hides the model's initializer") {
  Graph shadow = branch({makeNode("Neg", {"x"}, {"w"}), makeNode("Add", {"x", "w"}, {"a"})}, "a");
  Model model = modelOf(shadow, branch({makeNode("Neg", {"x"}, {"b"})}, "b"));
  model.graph.initializers = {storedFloats("w", {2}, {1, 2})};
  CHECK(parametersOf(model).empty());
}

TEST_CASE("settings and running statistics in branches are not trained") {
  Graph clip = branch(
      {makeNode("Clip", {"x", "least"}, {"a"}), makeNode("Reshape", {"a", "column"}, {"rows"}),
       makeNode("BatchNormalization", {"rows", "scale", "shift", "mean", "own"}, {"normal"}),
       makeNode("Reshape", {"normal", "row"}, {"z"})},
      "z");
  clip.initializers = {storedFloats("own", {2}, {1, 1})};
  Model model = modelOf(clip, branch({makeNode("Neg", {"x"}, {"b"})}, "b"));
  for (const char *name : {"scale", "shift", "mean"})
    model.graph.initializers.push_back(storedFloats(name, {2}, {1, 1}));
  model.graph.initializers.push_back(storedFloats("least", {}, {0}));
  for (auto [name, dims] : {std::pair("column", Names{"1", "2"}), std::pair("row", Names{"2"})}) {
    StoredTensor shape;
    shape.name = name, shape.dataType = 7;
    shape.dims = {static_cast<int64_t>(dims.size())};
    for (const std::string &dim : dims)
      shape.decoded += std::string{static_cast<char>(std::stoi(dim)), 0, 0, 0, 0, 0, 0, 0};
    model.graph.initializers.push_back(shape);
  }
  CHECK(parametersOf(model) == Names{"scale", "shift"});
}

TEST_CASE("weights without a name that only a branch reads give a warning") {
  Model model = modelOf(branch({makeNode("Add", {"x", "onnx::Add_7"}, {"a"})}, "a"),
                        branch({makeNode("Neg", {"x"}, {"b"})}, "b"));
  model.graph.initializers = {storedFloats("onnx::Add_7", {2}, {1, 2})};
  SmallModel file(model);
  Computed computed = importModel(file.path(), {});
  CHECK(named(computed, Role::Parameter).empty());
  REQUIRE(computed.remarks.size() == 1);
  CHECK(computed.remarks[0].kind == Remark::Kind::TrainingWarning);
  CHECK_THAT(computed.remarks[0].text, Catch::Contains("so it is not trained"));
}

TEST_CASE("a weight that the model and a branch read is one parameter") {
  Model model = affineModel();
  model.graph.nodes.push_back(makeNode("Sub", {"y", "fc.bias"}, {"z"}));
  model.graph.outputs = {tensorInfo("z", kFloat, {2})};
  CHECK(parametersOf(model) == Names{"fc.bias", "fc.weight"});
  ImportOptions tied;
  tied.tie = {{"fc.bias", "fc.weight"}};
  CHECK(parametersOf(model, tied) == Names{"fc.weight"});
}

TEST_CASE("trained weights of a branch are written into the model's initializers") {
  SmallModel file(affineModel());
  NewValues values;
  values.names = {"fc.bias"};
  values.read = [](const std::string &, ElementType, const std::vector<int64_t> &,
                   void *destination) {
    std::fill_n(static_cast<float *>(destination), 2, 10.0f);
    return Status::ok();
  };
  std::string written = file.path() + ".trained.onnx";
  REQUIRE(exportWeights(file.path(), {}, values, written).message() == "");
  CHECK(outputOf(written, 1) == std::vector<double>{11, 11});
  CHECK(outputOf(written, 0) == std::vector<double>{3, 4});
  std::filesystem::remove(written);
}

} // namespace
} // namespace cleave::onnx
