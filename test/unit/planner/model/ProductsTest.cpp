// The matrices that an op multiplies, whole and on one rank.
#include "compiler/planner/model/Products.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;

namespace {

// A product of batches of matrices; factors are b, m, k, n.
Op productOp(int64_t b, int64_t m, int64_t k, int64_t n) {
  Op op;
  op.rule = FactorRule::parse("b m k, b k n -> b m n", {{b, m, k}, {b, k, n}}, {{b, m, n}});
  op.work.flops = 2.0 * static_cast<double>(b * m * k * n);
  op.operands = {0, 1};
  op.work.isProduct = true;
  return op;
}

std::string usesOf(const Op &op) {
  std::string text;
  if (const auto uses = factorUses(op))
    for (FactorUse use : *uses)
      text += std::string(name(use)) + " ";
  return text;
}

} // namespace

TEST_CASE("factors of a product are batch, rows, terms or columns") {
  CHECK(usesOf(productOp(2, 3, 5, 7)) == "batch rows terms columns ");
}

TEST_CASE("what is not a product of two matrices has no such factors") {
  Op other = productOp(2, 3, 5, 7);
  other.work.isProduct = false;
  CHECK_FALSE(factorUses(other));
  Op convolution = productOp(2, 3, 5, 7);
  convolution.work.flops *= 9; // its windows overlap
  CHECK_FALSE(factorUses(convolution));
  CHECK(matrixSizes(convolution, FactorAxes(4), {{{"a", 2}}}).m == MatrixSizes().m);
}

TEST_CASE("a rank multiplies the largest block") {
  const Mesh mesh = {{{"a", 2}, {"b", 3}}};
  const MatrixSizes whole = matrixSizes(productOp(4, 9, 10, 7), FactorAxes(4), mesh);
  CHECK(whole.batch == 4);
  CHECK(whole.m == 9);
  CHECK(whole.k == 10);
  CHECK(whole.n == 7);
  const MatrixSizes split = matrixSizes(productOp(4, 9, 10, 7), {{0}, {1}, {}, {}}, mesh);
  CHECK(split.batch == 2);
  CHECK(split.m == 3);
  const MatrixSizes uneven = matrixSizes(productOp(4, 9, 10, 7), {{}, {}, {1}, {0}}, mesh);
  CHECK(uneven.k == 4); // of 10 in three blocks
  CHECK(uneven.n == 4); // of 7 in two
  CHECK(matrixSizes(productOp(4, 9, 10, 7), {{}, {}, {0, 1}, {}}, mesh).k == 2);
}

TEST_CASE("a rank has a share of the rows, inputs, outputs and groups of a grouped product") {
  Op op;
  op.work.grouped = {.rows = 100, .inputs = 30, .outputs = 40, .groups = 5, .wholeGroups = 5};
  const Mesh mesh{{{"a", 2}, {"b", 3}}};
  const GroupedSizes sizes = groupedSizes(op, {{1}, {}, {0}, {0}, {}}, mesh);
  CHECK(sizes.rows == 34);
  CHECK(sizes.inputs == 30);
  CHECK(sizes.outputs == 20);
  CHECK(sizes.groups == 3);
  CHECK(sizes.wholeGroups == 5);
  CHECK(groupedSizes(Op(), {}, mesh).groups == 0);
}
