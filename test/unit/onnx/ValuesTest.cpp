// Inputs with a value from the user (--value), and element types that are held in wider ones.
#include "compiler/frontend/onnx/file/NarrowTypes.h"
#include "test/unit/onnx/RunModel.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <unistd.h>

namespace cleave::onnx {
namespace {

// -- a model of one Reshape, as the wire format has it --------------------------------------------
std::string message(int number, const std::string &bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}

std::string number(int field, int value) {
  return {static_cast<char>(field << 3), static_cast<char>(value)};
}

std::string value(const std::string &name, int type, int size) {
  std::string shape = message(1, number(1, size));
  return message(1, name) + message(2, message(1, number(1, type) + message(2, shape)));
}

// y = Reshape(x, shape) with 6 floats x and two int64 `shape`, both inputs.
std::string reshapeModel() {
  std::string node =
      message(1, "x") + message(1, "shape") + message(2, "y") + message(4, "Reshape");
  std::string graph = message(1, node) + message(11, value("x", 1, 6)) +
                      message(11, value("shape", 7, 2)) + message(12, message(1, "y"));
  return number(1, 8) + message(7, graph) + message(8, number(2, 14));
}

class ModelFile {
public:
  explicit ModelFile(const std::string &content)
      : path_((std::filesystem::temp_directory_path() /
               ("cleave-values-" + std::to_string(::getpid()) + ".onnx"))
                  .string()) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~ModelFile() { std::filesystem::remove(path_); }
  const std::string &path() const { return path_; }

private:
  std::string path_;
};

TEST_CASE("a shape that is an input must be given by --value") {
  ModelFile model(reshapeModel());
  Arrays inputs{{"x", Tensor(ElementType::F32, {6}, 1)}};
  Status refused = importModel(model.path(), {}).status;
  CHECK_THAT(refused.message(), Catch::Contains("'shape'") && Catch::Contains("--value shape="));

  ImportOptions options;
  options.values["shape"] = {2, 3};
  Computed computed = runModel(model.path(), options, inputs);
  REQUIRE(computed.status.isOk());
  CHECK(computed.arguments.size() == 1);
  CHECK(computed.outputs.at("y").shape == std::vector<int64_t>{2, 3});
}

TEST_CASE("values that do not fit the input are errors") {
  ModelFile model(reshapeModel());
  ImportOptions options;
  options.values["shape"] = {2, 3, 1};
  CHECK_THAT(importModel(model.path(), options).status.message(), Catch::Contains("3 elements"));
  options.values = {{"shapes", {2, 3}}};
  CHECK_THAT(importModel(model.path(), options).status.message(),
             Catch::Contains("no input 'shapes'"));
}

TEST_CASE("narrow floats have the values of their formats") {
  const NarrowType &fn = *narrowType(17), &e5 = *narrowType(19), &fnuz = *narrowType(18);
  CHECK(decode(fn, 0x7e) == 448);
  CHECK(decode(fn, 0x81) == -std::ldexp(1.0, -9));
  CHECK(std::isnan(decode(fn, 0x7f)));
  CHECK(decode(e5, 0x7b) == 57344);
  CHECK(decode(e5, 0xfc) == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(decode(e5, 0x7d)));
  CHECK(decode(fnuz, 0x7f) == 240);
  CHECK(std::isnan(decode(fnuz, 0x80)));
  CHECK(decode(*narrowType(23), 0xf) == -6);
}

TEST_CASE("narrow integers are packed in bytes, the first in the lowest bits") {
  CHECK(unpack(*narrowType(22), "\x9f", 2) == std::string{-1, -7});
  CHECK(unpack(*narrowType(21), "\x9f\x03", 3) == std::string{15, 9, 3});
  CHECK(unpack(*narrowType(26), "\x1b", 4) == std::string{-1, -2, 1, 0});
  CHECK(narrowType(1) == nullptr);
}

} // namespace
} // namespace cleave::onnx
