// The dims along which weights are split.
#include "compiler/planner/model/WeightDims.h"
#include "test/unit/planner/Facts.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

// The forward part of a block in bf16: the residual stream of 8 features is scaled by its sum of
// squares; q and k read it, o adds to it. A bias is looked up and added to the result of k. The
// weights of q and o are square.
constexpr const char *kBlock = R"(
func.func @step(%ids: tensor<4xi32> {graph.role = "input", graph.name = "ids"},
    %table: tensor<16x8xf32> {graph.role = "parameter", graph.name = "table"},
    %q: tensor<8x8xf32> {graph.role = "parameter", graph.name = "q"},
    %k: tensor<4x8xf32> {graph.role = "parameter", graph.name = "k"},
    %o: tensor<8x8xf32> {graph.role = "parameter", graph.name = "o"},
    %bias: tensor<16x4xf32> {graph.role = "parameter", graph.name = "bias"},
    %scale: tensor<8xf32> {graph.role = "parameter", graph.name = "scale"})
    -> (tensor<4x8xf32> {graph.role = "output", graph.name = "y"},
        tensor<8x8xf32> {graph.role = "output", graph.name = "both"}) {
  %x = graph.gather %table at %ids dim 0 : tensor<16x8xf32>, tensor<4xi32> -> tensor<4x8xf32>
  %square = graph.mul %x, %x : tensor<4x8xf32>
  %mean = graph.reduce sum %square over [1] : tensor<4x8xf32> -> tensor<4xf32>
  %wide = graph.broadcast %mean to [0] : tensor<4xf32> -> tensor<4x8xf32>
  %normed = graph.mul %x, %wide : tensor<4x8xf32>
  %low = graph.cast %normed : tensor<4x8xf32> -> tensor<4x8xbf16>
  %ql = graph.cast %q : tensor<8x8xf32> -> tensor<8x8xbf16>
  %kl = graph.cast %k : tensor<4x8xf32> -> tensor<4x8xbf16>
  %kt = graph.transpose %kl by [1, 0] : tensor<4x8xbf16> -> tensor<8x4xbf16>
  %ol = graph.cast %o : tensor<8x8xf32> -> tensor<8x8xbf16>
  %query = graph.dot_general %low, %ql batch [] x [] contract [1] x [1] : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xbf16>
  %key = graph.dot_general %low, %kt batch [] x [] contract [1] x [0] : tensor<4x8xbf16>, tensor<8x4xbf16> -> tensor<4x4xbf16>
  %near = graph.gather %bias at %ids dim 0 : tensor<16x4xf32>, tensor<4xi32> -> tensor<4x4xf32>
  %nl = graph.cast %near : tensor<4x4xf32> -> tensor<4x4xbf16>
  %biased = graph.add %key, %nl : tensor<4x4xbf16>
  %scores = graph.dot_general %biased, %query batch [] x [] contract [1] x [0] : tensor<4x4xbf16>, tensor<4x8xbf16> -> tensor<4x8xbf16>
  %added = graph.dot_general %scores, %ol batch [] x [] contract [1] x [1] : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xbf16>
  %sum = graph.cast %added : tensor<4x8xbf16> -> tensor<4x8xf32>
  %y = graph.add %x, %sum : tensor<4x8xf32>
  %both = graph.add %q, %o : tensor<8x8xf32>
  return %y, %both : tensor<4x8xf32>, tensor<8x8xf32>
})";

// The last op is moved to the update, which may treat several weights at once.
StepModel blockModel() {
  StepModel model = modelOf(kBlock);
  model.ops.back().part = Part::Update;
  return model;
}

int dimOf(const StepModel &model, const std::string &name) {
  const std::vector<int> dims = weightDims(model);
  for (const Argument &argument : model.arguments)
    if (argument.name == name)
      return dims[argument.value];
  FAIL("no argument " << name);
  return -1;
}

} // namespace

TEST_CASE("what reads the features of a block is split by columns, what gives them by rows") {
  const StepModel model = blockModel();
  CHECK(dimOf(model, "q") == 0); // [outputs, inputs]
  CHECK(dimOf(model, "k") == 0); // the smaller dim
  CHECK(dimOf(model, "o") == 1);
}

TEST_CASE(
    "a table is split by rows, unless its columns are heads; what is only scaled has no dim") {
  const StepModel model = blockModel();
  CHECK(dimOf(model, "table") == 0);
  CHECK(dimOf(model, "bias") == 1);
  CHECK(dimOf(model, "scale") == -1);
  CHECK(dimOf(model, "ids") == -1);
}

TEST_CASE("copies of a weight have its dim") {
  const StepModel model = blockModel();
  const std::vector<int> dims = weightDims(model);
  int copies = 0;
  for (const Op &op : model.ops) {
    const bool isTransposed = op.kind == "graph.transpose";
    if (!isTransposed && (op.kind != "graph.cast" || model.values[op.operands[0]].argument < 0))
      continue;
    ++copies;
    CHECK(dims[op.results[0]] == (isTransposed ? 1 : dims[op.operands[0]]));
  }
  CHECK(copies == 4); // of q, k and o, and k's transpose
}

TEST_CASE("without norms the larger dim of a weight is split, of equal ones the contracted dim") {
  const StepModel model = trainingModel(8, 4, 16), square = trainingModel(8, 4, 4);
  CHECK(dimOf(model, "up.weight") == 1);
  CHECK(dimOf(model, "down.weight") == 0);
  CHECK(dimOf(square, "up.weight") == 0);
}
