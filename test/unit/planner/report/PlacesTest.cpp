// Places of ops in the model.
#include "compiler/planner/report/Places.h"
#include "compiler/planner/model/ReadStep.h"
#include "test/unit/graph_text/GraphText.h"
#include "test/unit/planner/TrainingStep.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

TEST_CASE("products have the place of their parameter, whatever they compute for it") {
  StepModel model = trainingModel(64, 32, 128);
  const std::string names[] = {"up", "down", "down", "down",
                               "up"}; // of layers, as importers set them
  size_t products = 0;
  for (Op &op : model.ops)
    if (op.work.isProduct)
      op.name = names[products++];
  REQUIRE(products == 5);
  const Places places(model);
  std::multiset<std::string> found;
  for (int i = 0; i < static_cast<int>(model.ops.size()); ++i)
    if (model.ops[i].work.isProduct)
      found.insert(places.of(i));
  CHECK(found == std::multiset<std::string>{"down.weight", "down.weight, input gradient",
                                            "down.weight, weight gradient", "up.weight",
                                            "up.weight, weight gradient"});
}

TEST_CASE("other ops have the place of the product that reads them, also behind a cast") {
  GraphText graph(R"(
func.func @step(%x: tensor<4x8xf32> {graph.role = "input", graph.name = "x"},
                %g: tensor<8xf32> {graph.role = "parameter", graph.name = "g"},
                %w: tensor<8x5xbf16> {graph.role = "parameter", graph.name = "w"})
    -> (tensor<4x5xbf16> {graph.role = "output", graph.name = "y"}) {
  %b = graph.broadcast %g to [1] : tensor<8xf32> -> tensor<4x8xf32>
  %n = graph.mul %x, %b : tensor<4x8xf32>
  %c = graph.cast %n : tensor<4x8xf32> -> tensor<4x8xbf16>
  %y = graph.dot_general %c, %w batch [] x [] contract [1] x [0]
    : tensor<4x8xbf16>, tensor<8x5xbf16> -> tensor<4x5xbf16>
  %z = graph.exp %y : tensor<4x5xbf16>
  return %z : tensor<4x5xbf16>
})");
  auto model = readStep(graph.function());
  INFO(graph.diagnostics);
  REQUIRE(mlir::succeeded(model));
  const Places places(*model);
  std::map<std::string, std::string> placeOf;
  for (int i = 0; i < static_cast<int>(model->ops.size()); ++i)
    placeOf[model->ops[i].kind] = places.of(i);
  CHECK(placeOf["graph.mul"] == "input of w");
  CHECK(placeOf["graph.cast"] == "input of w");
  CHECK(placeOf["graph.broadcast"] == "copy of g");
  CHECK(placeOf["graph.dot_general"] == "w");
  CHECK(placeOf["graph.exp"].empty());
}
