// Scatters of many indices, which threads list and add in their order.
#include "test/unit/codegen/KernelHarness.h"

#include <catch2/catch.hpp>

#include <tuple>

using namespace cleave::test;

// The text of a scatter of `indices` rows of `inner` numbers to a table of `rows`.
static std::string scatterText(const std::string &kind, int indices, int inner, int rows,
                               const std::string &type) {
  auto tensor = [&](int length) {
    return "tensor<" + std::to_string(length) + "x" + std::to_string(inner) + "x" + type + ">";
  };
  const std::string at = "tensor<" + std::to_string(indices) + "xi64>";
  return "func.func @f(%u: " + tensor(indices) + ", %i: " + at + ") -> " + tensor(rows) +
         " { %r = graph.scatter " + kind + " %u at %i dim 0 : " + tensor(indices) + ", " + at +
         " -> " + tensor(rows) + " return %r : " + tensor(rows) + " }";
}

TEST_CASE("every update is added once, whether few or many hit a row") {
  for (auto [rows, indices, inner] : {std::tuple(1, 300, 5), {3, 1100, 4}, {40, 257, 132}}) {
    INFO(indices << " rows of " << inner << " to " << rows);
    const double high = rows + 2;
    CHECK(worstDifference({.text = scatterText("sum", indices, inner, rows, "f32"),
                           .tolerance = 1e-4,
                           .low = -2,
                           .high = high}) <= 1e-4);
    CHECK(worstDifference({.text = scatterText("sum", indices, inner, rows, "i32"),
                           .tolerance = 0,
                           .low = -2,
                           .high = high}) == 0);
  }
}

TEST_CASE("rows that no index names hold the neutral element") {
  for (const char *kind : {"sum", "max", "min"})
    CHECK(worstDifference({.text = scatterText(kind, 256, 4, 90, "f32"),
                           .tolerance = 1e-5,
                           .low = 0,
                           .high = 30}) <= 1e-5);
}
