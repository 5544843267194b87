// Single operators, imported and simplified, against ONNX Runtime's results (test/models/ops).
#include "test/unit/onnx/RunModel.h"

#include <catch2/catch.hpp>

#include <filesystem>

namespace cleave::onnx {
namespace {

namespace fs = std::filesystem;

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

TEST_CASE("operators give ONNX Runtime's results") {
  REQUIRE(models().size() > 140);
  for (const fs::path &model : models()) {
    std::string name = model.stem().string();
    Arrays arrays = readArrays(fs::path(model).replace_extension(".npz").string());
    Computed plain = runModel(model.string(), {}, arrays);
    INFO(name << ": " << plain.status.message());
    checkOutputs(plain, arrays);
    checkOutputs(runModel(model.string(), {}, arrays, After::Simplify), arrays);
  }
}

} // namespace
} // namespace cleave::onnx
