// Reads of model.json: its contents, and one message for each kind of damage.
#include "compiler/frontend/emit/Failure.h"
#include "compiler/frontend/pt2/Program.h"
#include "test/unit/pt2/ArchiveText.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::test;

static std::string problemOf(const std::string &json) {
  try {
    pt2::readProgram(json);
  } catch (const emit::Failure &failure) {
    return failure.status.message();
  }
  return "";
}

TEST_CASE("a program is read with names, modules, ranges and outputs") {
  pt2::Program program = pt2::readProgram(smallProgram());
  REQUIRE(program.graph.nodes.size() == 1);
  CHECK(program.graph.nodes[0].target == "torch.ops.aten.add.Tensor");
  CHECK(program.graph.nodes[0].module == "fc");
  REQUIRE(program.inputs.size() == 2);
  CHECK(program.inputs[0].target == "fc.w");
  CHECK(program.ranges.at("s0").most == 64);
  CHECK(program.outputNames == std::vector<std::string>{"sum"});
  CHECK(program.graph.tensors.at("x").sizes[0].value == Polynomial::symbol("s0"));
  CHECK(program.producer == "torch 2.15.0");
}

TEST_CASE("expressions of sizes are read in both spellings") {
  CHECK(pt2::parseSize("2*s0 + 1")->str() == "2*s0 + 1");
  CHECK(pt2::parseSize("Add(Mul(Integer(2), Symbol('s0', positive=True)), Integer(1))")->str() ==
        "2*s0 + 1");
  CHECK(pt2::parseSize("s0**2 - (s1 - 3)")->str() == "s0^2 - s1 + 3");
  CHECK_FALSE(pt2::parseSize("Mod(s0, 2)"));
  CHECK_FALSE(pt2::parseSize("s0 +"));
  CHECK_FALSE(pt2::parseSize(""));
  CHECK_FALSE(pt2::parseSize("Symbol('s0'"));
  CHECK_FALSE(pt2::parseSize("Symbol("));
  CHECK_FALSE(pt2::parseSize(std::string(100000, '(')));
  CHECK_FALSE(pt2::parseSize("99999999999999999999"));
}

TEST_CASE("the message for invalid JSON has the position of the error") {
  CHECK(problemOf("{\"a\": }") == "the program (model.json) is not valid JSON: error at byte 7; "
                                  "export the model again");
  CHECK_THAT(problemOf(""), Catch::Contains("is not valid JSON"));
  CHECK_THAT(problemOf(std::string(100000, '[')), Catch::Contains("is not valid JSON"));
}

TEST_CASE("another schema version is refused with both numbers") {
  CHECK(problemOf(replaced(smallProgram(), "\"major\": 8", "\"major\": 9")) ==
        "the program has schema version 9.20, but Cleave reads 8.x; export it with PyTorch 2.15");
  CHECK_THAT(problemOf(replaced(smallProgram(), "\"major\": 8", "\"major\": 5")),
             Catch::Contains("5.20"));
}

TEST_CASE("a field that is missing or of the wrong kind is named by its path") {
  auto with = [](const std::string &from, const std::string &to) {
    return problemOf(replaced(smallProgram(), from, to));
  };
  CHECK(problemOf("[]") == "model.json: found array, expected an object");
  CHECK(problemOf("{}") == "model.json: the field 'schema_version' is missing");
  CHECK(with("\"nodes\": [", "\"nodes\": [3, ") ==
        "model.json.graph_module.graph.nodes[0]: found number, expected an object");
  CHECK(with("\"signature\"", "\"signed\"") ==
        "model.json.graph_module: the field 'signature' is missing");
  CHECK(
      with("{\"as_int\": 2}", "{\"as_int\": \"2\"}") ==
      "model.json.graph_module.graph.tensor_values.p_w.sizes[0].as_int: found string, expected an "
      "integer");
  CHECK(
      with("{\"as_int\": 2}", "{\"as_int\": 99999999999999999999}") ==
      "model.json.graph_module.graph.tensor_values.p_w.sizes[0].as_int: found number, expected an "
      "integer");
  CHECK(with("{\"as_int\": 2}", "{}") ==
        "model.json.graph_module.graph.tensor_values.p_w.sizes[0]: "
        "found no field that is set, expected one");
}
