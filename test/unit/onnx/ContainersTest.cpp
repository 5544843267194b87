// Inputs and outputs other than tensors of numbers (sequences, optionals, strings), and branches
// that depend on data.
#include "test/unit/onnx/RunModel.h"
#include "test/unit/onnx/SmallModel.h"

#include <catch2/catch.hpp>

namespace cleave::onnx {
namespace {

ValueInfo sequenceInfo(const std::string &name, const std::vector<int64_t> &dims) {
  ValueInfo info = tensorInfo(name, kFloat, dims);
  info.isSequence = true;
  return info;
}

frontend::InputType inputType(const std::string &text) {
  auto input = frontend::parseInput(text);
  REQUIRE(input.isOk());
  return *input;
}

TEST_CASE("a sequence goes in and comes out element by element") {
  Model model = emptyModel();
  model.graph.inputs = {sequenceInfo("s", {2}), tensorInfo("x", kFloat, {2})};
  model.graph.nodes = {makeNode("SequenceInsert", {"s", "x"}, {"t"})};
  model.graph.outputs = {sequenceInfo("t", {2})};
  SmallModel file(model);
  CHECK_THAT(importModel(file.path(), {}).status.message(), Catch::Contains("--input s=2"));
  ImportOptions options;
  options.inputs = {inputType("s=1")};
  Tensor one(ElementType::F32, {2}, 1), two(ElementType::F32, {2}, 2);
  Computed computed = runModel(file.path(), options, {{"s.0", one}, {"x", two}});
  REQUIRE(computed.status.isOk());
  CHECK(computed.outputs.size() == 2);
  CHECK(computed.outputs.at("t.0").values == one.values);
  CHECK(computed.outputs.at("t.1").values == two.values);
  // The elements' types are given by the user.
  options.inputs = {inputType("s.0=float32[2]"), inputType("s.1=float32[2]")};
  CHECK(importModel(file.path(), options).arguments.size() == 3);
  options.inputs = {inputType("s.1=float32[2]")};
  CHECK_FALSE(importModel(file.path(), options).status.isOk());
}

TEST_CASE("an optional without an element is given by --input o=none") {
  Model model = emptyModel();
  ValueInfo optional = tensorInfo("o", kFloat, {2});
  optional.isOptional = true;
  model.graph.inputs = {optional};
  model.graph.nodes = {makeNode("OptionalHasElement", {"o"}, {"y"})};
  model.graph.outputs = {tensorInfo("y", kBool, {})};
  SmallModel file(model);
  ImportOptions options;
  options.inputs = {inputType("o=none")};
  CHECK(runModel(file.path(), options, {}).outputs.at("y").values[0] == 0);
  Arrays given{{"o", Tensor(ElementType::F32, {2}, 1)}};
  CHECK(runModel(file.path(), {}, given).outputs.at("y").values[0] == 1);
}

TEST_CASE("strings are known while importing, and are moved, compared and cast to numbers") {
  Model model = emptyModel();
  model.graph.inputs = {tensorInfo("words", kStringType, {3}), tensorInfo("at", kInt64, {2})};
  model.graph.nodes = {
      makeNode("Gather", {"words", "at"}, {"some"}),
      makeNode("StringConcat", {"some", "some"}, {"twice"}),
      makeNode("Cast", {"some"}, {"numbers"}, {integerAttribute("to", kFloat)}),
      makeNode("Equal", {"words", "words"}, {"same"}),
  };
  model.graph.outputs = {tensorInfo("twice", kStringType, {2}), tensorInfo("numbers", kFloat, {2}),
                         tensorInfo("same", kBool, {3})};
  SmallModel file(model);
  CHECK_THAT(importModel(file.path(), {}).status.message(), Catch::Contains("--value words="));
  ImportOptions options;
  options.strings["words"] = {"1.5", "-2", "3"};
  CHECK_THAT(importModel(file.path(), options).status.message(), Catch::Contains("--value at="));
  options.values["at"] = {2, 0};
  options.strings["at"] = {"2", "0"};
  Computed computed = runModel(file.path(), options, {});
  REQUIRE(computed.status.isOk());
  CHECK(computed.outputs.at("numbers").values == std::vector<double>{3, 1.5});
  CHECK(computed.outputs.at("same").values == std::vector<double>{1, 1, 1});
  CHECK(computed.strings.at("twice") == std::vector<std::string>{"33", "1.51.5"});
}

TEST_CASE("arithmetic on strings fails") {
  Model model = emptyModel();
  model.graph.inputs = {tensorInfo("words", kStringType, {2})};
  model.graph.nodes = {makeNode("Add", {"words", "words"}, {"y"})};
  model.graph.outputs = {tensorInfo("y", kInt64, {2})};
  SmallModel file(model);
  ImportOptions options;
  options.strings["words"] = {"a", "b"};
  CHECK_THAT(importModel(file.path(), options).status.message(), Catch::Contains("strings"));
}

TEST_CASE("a branch whose condition depends on data is chosen when the program runs") {
  auto branch = [](const char *op, const char *out) {
    Graph graph;
    graph.nodes = {makeNode(op, {"x"}, {out})};
    graph.outputs = {tensorInfo(out, kFloat, {2})};
    return graph;
  };
  Model model = emptyModel();
  model.graph.inputs = {tensorInfo("x", kFloat, {2}), tensorInfo("flag", kBool, {1})};
  model.graph.nodes = {makeNode("If", {"flag"}, {"y"},
                                {graphAttribute("then_branch", branch("Neg", "a")),
                                 graphAttribute("else_branch", branch("Identity", "b"))})};
  model.graph.outputs = {tensorInfo("y", kFloat, {2})};
  SmallModel file(model);
  for (double flag : {0.0, 1.0}) {
    Arrays inputs{{"x", Tensor(ElementType::F32, {2}, 3)},
                  {"flag", Tensor(ElementType::Bool, {1}, flag)}};
    Computed computed = runModel(file.path(), {}, inputs);
    REQUIRE(computed.status.isOk());
    CHECK(computed.outputs.at("y").values[0] == (flag ? -3 : 3));
  }
}

} // namespace
} // namespace cleave::onnx
