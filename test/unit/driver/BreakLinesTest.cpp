// Long lines of IR, broken where a person would.
#include "passes/driver/BreakLines.h"

#include <catch2/catch.hpp>

using cleave::driver::brokenLines;

TEST_CASE("short lines, comments and strings stay as they are") {
  const std::string text = "module {\n  // a comment (that, is, longer than the line may be)\n}\n";
  CHECK(brokenLines(text, 20) == text);
  const std::string string = "#l = loc(\"a, b, (c, d, e, f, g, h, i, j, k, l, m, n, o)\")\n";
  CHECK(brokenLines(string, 20) ==
        "#l = loc(\n  \"a, b, (c, d, e, f, g, h, i, j, k, l, m, n, o)\"\n)\n");
}

TEST_CASE("a signature gets a line per argument, and attributes lines of their own where needed") {
  CHECK(brokenLines(
            "  func.func @step(%arg0: tensor<8x4xf32> {graph.name = \"x\"}, %arg1: tensor<4xf32> "
            "{graph.name = \"w\", mesh.sharding = #mesh.sharding<[{dp}, {}]>}) -> tensor<f32> {\n",
            60) == "  func.func @step(\n"
                   "    %arg0: tensor<8x4xf32> {graph.name = \"x\"},\n"
                   "    %arg1: tensor<4xf32> {\n"
                   "      graph.name = \"w\",\n"
                   "      mesh.sharding = #mesh.sharding<[{dp}, {}]>\n"
                   "    }\n"
                   "  ) -> tensor<f32> {\n");
}

TEST_CASE("brackets that an earlier line opened, and arrows, do not end a list") {
  CHECK(brokenLines("} results (one: first entry, two: second entry, three: third) -> (x)\n", 50) ==
        "} results (\n  one: first entry,\n  two: second entry,\n  three: third\n) -> (x)\n");
}

TEST_CASE("a very long line without lists is broken behind commas, types stay whole") {
  CHECK(brokenLines("return %one, %two, %three : tensor<1xf32, #a<1, 2>>, tensor<2xf32>\n", 30) ==
        "return %one, %two,\n    %three : tensor<1xf32, #a<1, 2>>,\n    tensor<2xf32>\n");
}
