// Single operators against what ONNX Runtime computes (test/models/ops), as imported and simplified.
#include "test/unit/onnx/RunModel.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <set>

namespace cleave::onnx {
namespace {

namespace fs = std::filesystem;

// Operators that Cleave does not import; whoever adds one removes it here.
const std::set<std::string> kUnknown = {
    "ArgMax", "ArgMin", "CumSum",          "GatherElements", "GatherND",
    "Resize", "TopK",   "ScatterElements", "ScatterND",      "SoftmaxCrossEntropyLoss",
};

std::vector<fs::path> models() {
  std::vector<fs::path> out;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(std::string(CLEAVE_SOURCE) + "/test/models/ops"))
    if (entry.path().extension() == ".onnx")
      out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

void checkOutputs(const Computed &computed, const Arrays &expected) {
  REQUIRE(computed.status.isOk());
  for (const auto &[name, tensor] : computed.outputs) {
    INFO(name);
    CHECK(difference(tensor, expected.at(name)) < 2e-5);
  }
}

TEST_CASE("operators compute what ONNX Runtime computes") {
  REQUIRE(models().size() > 140);
  for (const fs::path &model : models()) {
    std::string name = model.stem().string(), op = name.substr(0, name.find('-'));
    if (kUnknown.contains(op))
      continue;
    Arrays arrays = readArrays(fs::path(model).replace_extension(".npz").string());
    Computed plain = runModel(model.string(), {}, arrays);
    INFO(name << ": " << plain.status.message());
    checkOutputs(plain, arrays);
    checkOutputs(runModel(model.string(), {}, arrays, After::Simplify), arrays);
  }
}

TEST_CASE("unknown operators are refused by name, with the nodes") {
  for (const fs::path &model : models()) {
    std::string name = model.stem().string(), op = name.substr(0, name.find('-'));
    if (!kUnknown.contains(op))
      continue;
    Status status = importModel(model.string(), {}).status;
    CHECK_THAT(status.message(),
               Catch::Contains("does not know") && Catch::Contains(op + " ('" + op + "0'"));
  }
}

} // namespace
} // namespace cleave::onnx
