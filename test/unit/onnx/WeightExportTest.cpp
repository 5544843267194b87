// Trained weights go back to the places of the file that they came from.
#include "compiler/frontend/onnx/WeightExport.h"
#include "compiler/frontend/onnx/file/Weights.h"
#include "test/unit/onnx/RunModel.h"
#include "test/unit/onnx/SmallModel.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

namespace cleave::onnx {
namespace {

TEST_CASE("a weight whose dims a node reads is replaced where it is") {
  Model model = emptyModel();
  model.graph.inputs = {tensorInfo("x", kFloat, {2})};
  model.graph.outputs = {tensorInfo("y", kFloat, {2})};
  model.graph.initializers = {storedFloats("fc.weight", {2}, {3, 4})};
  SECTION("Shape") {
    model.graph.nodes = {makeNode("Shape", {"fc.weight"}, {"dims"}),
                         makeNode("Expand", {"x", "dims"}, {"a"}),
                         makeNode("Add", {"a", "fc.weight"}, {"y"})};
  }
  SECTION("Size") {
    model.graph.nodes = {makeNode("Size", {"fc.weight"}, {"count"}),
                         makeNode("Cast", {"count"}, {"size"}, {integerAttribute("to", kFloat)}),
                         makeNode("Mul", {"x", "size"}, {"a"}),
                         makeNode("Add", {"a", "fc.weight"}, {"y"})};
  }
  SmallModel file(model);
  NewValues values;
  values.names = {"fc.weight"};
  values.read = [](const std::string &, ElementType, const std::vector<int64_t> &, void *to) {
    std::fill_n(static_cast<float *>(to), 2, 10.0f);
    return Status::ok();
  };
  const std::string written = file.path() + ".trained.onnx";
  REQUIRE(exportWeights(file.path(), {}, values, written).message() == "");
  WeightFiles files(written);
  const Model trained = readModel(files.modelBytes(), written);
  std::filesystem::remove(written);
  REQUIRE(trained.graph.initializers.size() == 1);
  CHECK(trained.graph.initializers[0].name == "fc.weight");
  CHECK(files.read(trained.graph.initializers[0]).values == std::vector<double>{10, 10});
}

} // namespace
} // namespace cleave::onnx
