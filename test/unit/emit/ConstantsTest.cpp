// The ops that the families build, evaluated on constants: cases that the tests of whole operators
// (test/models/ops) do not cover.
#include "compiler/frontend/emit/Activation.h"
#include "compiler/frontend/emit/Einsum.h"
#include "compiler/frontend/emit/Elementwise.h"
#include "compiler/frontend/emit/Movement.h"
#include "compiler/frontend/emit/Pooling.h"
#include "compiler/frontend/emit/Sampling.h"
#include "compiler/frontend/emit/Slicing.h"
#include "test/unit/emit/Building.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace cleave;
using namespace cleave::emit;

namespace {

Value floats(Building &at, std::vector<int64_t> shape, std::vector<double> values) {
  Tensor tensor(ElementType::F32, std::move(shape));
  tensor.values = std::move(values);
  return at.e.constant(tensor);
}

std::vector<double> valuesOf(Building &at, Value value) {
  std::optional<Tensor> known = at.evaluator.evaluate(value);
  REQUIRE(known);
  return known->values;
}

using Numbers = std::vector<double>;

} // namespace

TEST_CASE("padding by reflection, edge and wrap-around begins at the borders") {
  Building at;
  Value x = floats(at, {4}, {1, 2, 3, 4});
  auto padded = [&](PadMode mode, int64_t low, int64_t high) {
    return valuesOf(at, padDim(at.e, x, 0, low, high, mode, 9));
  };
  CHECK(padded(PadMode::Constant, 1, 2) == Numbers{9, 1, 2, 3, 4, 9, 9});
  CHECK(padded(PadMode::Edge, 2, 1) == Numbers{1, 1, 1, 2, 3, 4, 4});
  CHECK(padded(PadMode::Reflect, 2, 3) == Numbers{3, 2, 1, 2, 3, 4, 3, 2, 1});
  CHECK(padded(PadMode::Wrap, 1, 2) == Numbers{4, 1, 2, 3, 4, 1, 2});
  CHECK(padded(PadMode::Reflect, 0, 5) == Numbers{1, 2, 3, 4, 3, 2, 1, 2, 3}); // more than once
  CHECK(padded(PadMode::Constant, -1, -2) == Numbers{2});
}

TEST_CASE("slices have numpy's semantics") {
  Building at;
  Value x = floats(at, {5}, {0, 1, 2, 3, 4});
  auto cut = [&](int64_t start, int64_t end, int64_t step) {
    return valuesOf(at, sliceDim(at.e, x, 0, start, end, step));
  };
  CHECK(cut(1, -1, 1) == Numbers{1, 2, 3});
  CHECK(cut(-2, 1000, 1) == Numbers{3, 4});
  CHECK(cut(0, INT64_MAX, 2) == Numbers{0, 2, 4});
  CHECK(cut(-1, INT64_MIN, -2) == Numbers{4, 2, 0});
  CHECK(cut(3, 0, -1) == Numbers{3, 2, 1});
  CHECK(cut(3, 2, 1).empty());
  CHECK(valuesOf(at, takeOne(at.e, x, 0, -2)) == Numbers{3});
}

TEST_CASE("adaptive pooling takes overlapping windows where sizes do not divide") {
  Building at;
  Value x = floats(at, {1, 1, 5}, {1, 2, 3, 4, 5});
  CHECK(valuesOf(at, adaptiveAveragePool(at.e, x, {3})) == Numbers{1.5, 3, 4.5});
  CHECK(valuesOf(at, adaptiveMaxPool(at.e, x, {2})) == Numbers{3, 5});
  CHECK(valuesOf(at, adaptiveAveragePool(at.e, x, {1})) == Numbers{3});
}

TEST_CASE("an average with ceil mode counts padding but no elements beyond it") {
  Building at;
  Value x = floats(at, {1, 1, 4}, {6, 6, 6, 6});
  PoolOptions options;
  options.window.kernel = {3};
  options.window.strides = {2};
  options.window.padsLow = options.window.padsHigh = {1};
  options.ceil = options.countPadding = true;
  CHECK(valuesOf(at, averagePool(at.e, x, options)) == Numbers{4, 6, 3});
  options.countPadding = false;
  CHECK(valuesOf(at, averagePool(at.e, x, options)) == Numbers{6, 6, 6});
}

TEST_CASE("division rounds down like Python or towards zero like C") {
  Building at;
  Value x = at.e.integers({7, -7, 7, -7, 6}), y = at.e.integers({2, 2, -2, -2, -3});
  CHECK(valuesOf(at, floorDivide(at.e, x, y)) == Numbers{3, -4, -4, 3, -2});
  CHECK(valuesOf(at, truncatedDivide(at.e, x, y)) == Numbers{3, -3, -3, 3, -2});
  CHECK(valuesOf(at, floorRemainder(at.e, x, y)) == Numbers{1, 1, -1, -1, 0});
}

TEST_CASE("einsum takes diagonals and broadcasts dims of size 1") {
  Building at;
  Value square = floats(at, {2, 2}, {1, 2, 3, 4});
  CHECK(valuesOf(at, einsum(at.e, "ii->i", {square})) == Numbers{1, 4});
  CHECK(valuesOf(at, einsum(at.e, "ii", {square})) == Numbers{5});
  Value row = floats(at, {1, 2}, {10, 20});
  CHECK(valuesOf(at, einsum(at.e, "...a,...a->...", {square, row})) == Numbers{50, 110});
  Value column = at.e.slice(square, 1, 0, 1); // dims of size 1 broadcast
  CHECK(valuesOf(at, einsum(at.e, "ab,cb->ac", {square, column})) == Numbers{3, 9, 7, 21});
  CHECK(valuesOf(at, einsum(at.e, "ab,ab->ab", {column, square})) == Numbers{1, 2, 9, 12});
}

TEST_CASE("rolled elements re-enter at the other end") {
  Building at;
  Value x = floats(at, {4}, {1, 2, 3, 4});
  CHECK(valuesOf(at, roll(at.e, x, 0, 1)) == Numbers{4, 1, 2, 3});
  CHECK(valuesOf(at, roll(at.e, x, 0, -5)) == Numbers{2, 3, 4, 1});
  CHECK(valuesOf(at, repeatInterleave(at.e, x, 0, 2)) == Numbers{1, 1, 2, 2, 3, 3, 4, 4});
}

TEST_CASE("positions of an affine grid are rounded once, so they are symmetric about 0") {
  for (const auto &[alignCorners, positions] :
       {std::pair(false, Numbers{-0.8, -0.4, 0, 0.4, 0.8}),
        std::pair(true, Numbers{-1, -0.6, -0.2, 0.2, 0.6, 1})}) {
    Building at;
    Tensor theta(ElementType::F64, {1, 2, 3});
    theta.values = {1, 0, 0, 0, 1, 0};
    const auto width = static_cast<int64_t>(positions.size());
    const Numbers grid =
        valuesOf(at, affineGrid(at.e, at.e.constant(theta), {1, width}, alignCorners));
    for (size_t i = 0; i < positions.size(); ++i)
      CHECK(grid[2 * i] == positions[i]);
  }
}

TEST_CASE("inverse functions agree with the C library over their range") {
  Building at;
  Numbers inputs{-1, -0.5, -1e-4, 0, 1e-4, 0.5, 1};
  Value x = floats(at, {7}, inputs);
  auto check = [&](Value value, double (*expected)(double)) {
    Numbers computed = valuesOf(at, value);
    for (size_t i = 0; i < inputs.size(); ++i)
      CHECK(computed[i] == Approx(expected(inputs[i])).margin(1e-6));
  };
  check(arcSine(at.e, x), std::asin);
  check(arcCosine(at.e, x), std::acos);
  check(areaSine(at.e, x), std::asinh);
  check(expMinusOne(at.e, x), std::expm1);
  Value y = floats(at, {4}, {1, -1, 0, 1}), z = floats(at, {4}, {-1, -1, 1, 0});
  CHECK(valuesOf(at, arcTangent2(at.e, y, z))[0] == Approx(3 * M_PI / 4));
  CHECK(valuesOf(at, arcTangent2(at.e, y, z))[1] == Approx(-3 * M_PI / 4));
  CHECK(valuesOf(at, arcTangent2(at.e, y, z))[3] == Approx(M_PI / 2));
}

TEST_CASE("windows over symbolic images work where the result does not depend on the size") {
  Building at(R"(%x: tensor<?x3x?xf32, #graph.dims<["batch", "", "width"]>>)");
  Value x = at.argument(0);
  PoolOptions options;
  options.window.kernel = {3};
  options.window.strides = {2};
  options.ceil = true;
  CHECK(showShape(shapeOf(maxPool(at.e, x, options))) == "[batch, 3, floor(width/2)]");
  CHECK(showShape(shapeOf(adaptiveAveragePool(at.e, x, {1}))) == "[batch, 3, 1]");
  CHECK(showShape(shapeOf(padDim(at.e, x, 2, 1, 2, PadMode::Reflect))) == "[batch, 3, width + 3]");
  CHECK(failureOf([&] { adaptiveMaxPool(at.e, x, {4}); }) ==
        "the pooled size width depends on the symbol 'width': give --set width=8, say");
}
