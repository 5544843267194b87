// Functions, loops, branches, sequences and operators of old opsets (test/models/programs) against
// ONNX Runtime's results.
#include "test/unit/onnx/RunModel.h"

#include <catch2/catch.hpp>

namespace cleave::onnx {
namespace {

const std::string kFolder = std::string(CLEAVE_SOURCE) + "/test/models/programs/";

} // namespace

TEST_CASE("programs give ONNX Runtime's results") {
  for (std::string name : {"functions", "loop", "scan", "sequences", "weights", "old", "choices"}) {
    INFO(name);
    Arrays arrays = readArrays(kFolder + name + ".npz");
    for (After after : {After::Nothing, After::Simplify}) {
      Computed computed = runModel(kFolder + name + ".onnx", {}, arrays, after);
      REQUIRE(computed.status.message() == "");
      REQUIRE(!computed.outputs.empty());
      for (const auto &[output, tensor] : computed.outputs) {
        INFO(output);
        CHECK(difference(tensor, arrays.at(output)) < 2e-5);
      }
    }
  }
}

TEST_CASE("a weight inside a branch is a parameter") {
  Computed computed = importModel(kFolder + "weights.onnx", {});
  REQUIRE(computed.arguments.size() == 2);
  CHECK(computed.arguments[1].name == "weight");
  CHECK(computed.arguments[1].role == Role::Parameter);
}

} // namespace cleave::onnx
