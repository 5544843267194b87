// Numbers that depend on data: what item(), int() and float() give of a tensor of one element, and
// the operators that take such numbers.
#include "dialects/graph/StopGradient.h"
#include "test/unit/aten/AtenBench.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::test;
using aten::IValue;

namespace {

// An input of the step.
IValue input(AtenBench &b, const std::vector<int64_t> &shape, mlir::Type element) {
  auto type = mlir::RankedTensorType::get(shape, element);
  return aten::TensorState::create(b.builder.getBlock()->addArgument(type, b.emitter.loc));
}
IValue integer(AtenBench &b) { return input(b, {}, b.builder.getI64Type()); }

mlir::Type typeOf(AtenBench &b, const IValue &value) {
  return value.tensor()->read(b.emitter).getType();
}

} // namespace

TEST_CASE("a number that depends on data is a tensor without a gradient") {
  AtenBench b;
  IValue number = b.call("aten::item", {input(b, {1}, b.builder.getF32Type())});
  REQUIRE(number.isTensor());
  CHECK(number.tensor()->isPythonNumber());
  CHECK(typeOf(b, number) == mlir::RankedTensorType::get({}, b.builder.getF64Type()));
  mlir::Operation *cast = number.tensor()->read(b.emitter).getDefiningOp();
  CHECK(cast->getOperand(0).getDefiningOp<graph::StopGradientOp>());
  CHECK(b.call("aten::item", {b.tensor({1}, {2.5})}).number() == 2.5);
}

TEST_CASE("numbers that depend on data are promoted as numbers are") {
  AtenBench b;
  IValue number = b.call("aten::Float", {integer(b)}), half = b.call("aten::div", {1.0, number});
  CHECK(half.tensor()->isPythonNumber());
  CHECK(typeOf(b, half) == mlir::RankedTensorType::get({}, b.builder.getF64Type()));
  IValue scaled = b.call("aten::mul", {b.counted({2}), half});
  CHECK(typeOf(b, scaled) == mlir::RankedTensorType::get({2}, b.builder.getF32Type()));
  IValue floats = b.call("aten::mul", {b.counted({2}, ElementType::I64), half});
  CHECK(typeOf(b, floats) == mlir::RankedTensorType::get({2}, b.builder.getF32Type()));
}

TEST_CASE("an element at a place that depends on data is a view") {
  AtenBench b;
  IValue x = b.counted({4, 2}), place = b.call("aten::item", {integer(b)});
  IValue row = b.call("aten::select", {x, int64_t(0), place});
  CHECK(row.tensor()->isView());
  CHECK(typeOf(b, row) == mlir::RankedTensorType::get({2}, b.builder.getF32Type()));
  mlir::Value before = x.tensor()->read(b.emitter);
  b.call("aten::add_", {row, 1.0});
  CHECK(x.tensor()->read(b.emitter) != before);
  IValue rows = b.call("aten::narrow", {x, int64_t(0), place, int64_t(3)});
  CHECK(typeOf(b, rows) == mlir::RankedTensorType::get({3, 2}, b.builder.getF32Type()));
}

TEST_CASE("a size that depends on data is refused") {
  AtenBench b;
  IValue number = b.call("aten::Int", {integer(b)});
  CHECK_THAT(b.problem("aten::zeros", {IValue::list({number})}),
             Catch::Contains("expected list of integer"));
  CHECK_THAT(b.problem("aten::select", {b.counted({2}), number, int64_t(0)}),
             Catch::Contains("has a number computed from data as 'dim', expected integer"));
}

TEST_CASE("running statistics move by a momentum that depends on data") {
  AtenBench b;
  IValue x = b.tensor({2, 1}, {1, 3}), mean = b.tensor({1}, {0}), variance = b.tensor({1}, {1});
  IValue momentum = b.call("aten::div", {1.0, b.call("aten::Float", {integer(b)})});
  b.call("aten::batch_norm", {x, {}, {}, mean, variance, true, momentum, 0.0, false});
  CHECK(!b.emitter.known(mean.tensor()->read(b.emitter)));
  IValue known = b.tensor({}, {0.5});
  IValue other = b.tensor({1}, {0}), spread = b.tensor({1}, {1});
  b.call("aten::batch_norm", {x, {}, {}, other, spread, true, known, 0.0, false});
  CHECK(b.values(other) == std::vector<double>{1});
}
