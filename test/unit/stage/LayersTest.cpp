// The layers of a model by the names of its parameters, and cuts between them.
#include "passes/stage/Layers.h"
#include "passes/stage/Cut.h"

#include "test/unit/graph_text/GraphText.h"

#include <catch2/catch.hpp>

#include "mlir/IR/Diagnostics.h"

using namespace cleave;
using namespace cleave::test;
using namespace mlir;

// A step with a product and an exponential for each parameter in `names`, and residual connections
// around the second and the third.
static std::string textOf(const std::vector<std::string> &names) {
  std::string text = R"(
func.func @step(%x: tensor<4x4xf32> {graph.name = "x", graph.role = "input"})";
  for (size_t i = 0; i < names.size(); ++i)
    text += ",\n    %p" + std::to_string(i) + R"(: tensor<4x4xf32> {graph.name = ")" + names[i] +
            R"(", graph.role = "parameter"})";
  text += R"()
    -> (tensor<4x4xf32> {graph.name = "y", graph.role = "output"}) {
)";
  std::string last = "%x";
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string n = std::to_string(i);
    text += "  %t" + n + " = graph.transpose %p" + n +
            " by [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>\n";
    text += "  %d" + n + " = graph.dot_general " + last + ", %t" + n +
            " batch [] x [] contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> "
            "tensor<4x4xf32>\n";
    text += "  %e" + n + " = graph.exp %d" + n + " : tensor<4x4xf32>\n";
    if (i == 1 || i == 2)
      text += "  %r" + n + " = graph.add %e" + n + ", " + last + " : tensor<4x4xf32>\n";
    last = (i == 1 || i == 2 ? "%r" : "%e") + n;
  }
  return text + "  return " + last + " : tensor<4x4xf32>\n}";
}

namespace {

// The chunks of all ops but transposes, and their layout, or the error.
struct Cut {
  std::vector<int64_t> chunks;
  std::string layout, error;
};

} // namespace

static Cut cutOf(const stage::Chunks &chunks) {
  Cut found;
  for (int64_t chunk : chunks.ofOp)
    if (chunk >= 0)
      found.chunks.push_back(chunk);
  if (chunks.layout)
    found.layout = pipelines::textOf(*chunks.layout);
  return found;
}

static Cut cut(const std::vector<std::string> &names, const std::string &layout) {
  GraphText text(textOf(names));
  Cut found;
  ScopedDiagnosticHandler errors(text.context(), [&](Diagnostic &diagnostic) {
    found.error = diagnostic.str();
    return success();
  });
  auto chunks =
      stage::cutAtLayers(graph::stepOf(text.module()), *pipelines::parseLayerLayout(layout));
  return succeeded(chunks) ? cutOf(*chunks) : found;
}

static const std::vector<std::string> kModel = {"tok.weight", "h.0.fc.weight", "h.1.fc.weight",
                                                "h.2.fc.weight", "head.weight"};

TEST_CASE("between two layers, the cut lies where the fewest bytes pass") {
  // Ops: product and exponential; the same and an addition, twice; product and exponential, twice.
  CHECK(cut(kModel, "Et|ttL").chunks == std::vector<int64_t>{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1});
  CHECK(cut(kModel, "E|tt|tL").chunks == std::vector<int64_t>{0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2});
  CHECK(cut(kModel, "Et*3|L").chunks == std::vector<int64_t>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1});
}

TEST_CASE("a cut between layers says which layers chunks have") {
  for (const char *layout : {"Et|ttL", "E|tt|tL", "Ettt|L", "E|t|t|t|L"})
    CHECK(cut(kModel, layout).layout == pipelines::textOf(*pipelines::parseLayerLayout(layout)));
}

TEST_CASE("the last of the places that are crossed least is the narrowest") {
  const std::vector<double> crossing = {0, 3, 2, 2, 5, 0};
  CHECK(stage::narrowest({1, 4}, crossing) == 3);
  CHECK(stage::narrowest({1, 1}, crossing) == 1);
}

TEST_CASE("balanced chunks of whole layers say which, and others do not") {
  auto balanced = [](double more) { // seconds of the product of h.2.a
    GraphText text(textOf({"tok", "h.0.a", "h.1.a", "h.2.a", "h.2.b", "head"}));
    stage::CutCosts costs{std::vector<double>(20, 0.0)};
    costs.opSeconds[1] = costs.opSeconds[8] = 0.5; // the products of tok and h.1.a
    costs.opSeconds[12] = more;
    costs.opSeconds[15] = 2; // the product of h.2.b
    return cutOf(*stage::cutIntoChunks(graph::stepOf(text.module()), 2, costs)).layout;
  };
  CHECK(balanced(0) == "Et*2|tL");
  CHECK(balanced(0.5) == "");
}

TEST_CASE("the first number in a parameter's name identifies its layer, also after an underscore") {
  const std::vector<std::string> names = {"tok", "l.layer_0.mlp.0", "l.layer_0.mlp.3",
                                          "l.layer_1.mlp.0", "head"};
  CHECK(cut(names, "Et|tL").chunks == std::vector<int64_t>{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1});
}

TEST_CASE("a layout must have the layers of the model, and no empty stage") {
  CHECK(cut(kModel, "Et|tL").error ==
        "found 2 layers 't', expected the 3 of the model, h.0 to h.2");
  CHECK(cut(kModel, "Et||ttL").error == "part 2 of the layout has no ops");
  CHECK(cut({"a", "b", "c", "d", "e"}, "Et|L").error ==
        "no parameter has a layer number in its name");
  CHECK(cut({"tok", "h.0.a", "h.1.a", "h.0.b", "head"}, "Et|tL").error ==
        "layer 'h.1' begins before 'h.0' has ended");
  CHECK(cut({"tok", "h.0.a", "shared", "h.1.a", "head"}, "Et|tL").error ==
        "parameters of no layer are read before 'h.1' has ended");
}
