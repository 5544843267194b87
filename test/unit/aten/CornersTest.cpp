// Corner cases of operators: bounds, ties, signs, rare arguments, layouts that decide between view
// and copy.
#include "test/unit/aten/AtenBench.h"

#include "dialects/graph/StopGradient.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::test;
using aten::IValue;
using Numbers = std::vector<double>;

namespace {

// The result of an op on an argument of a step, to which gradients flow.
IValue computed(AtenBench &b, const std::vector<int64_t> &shape) {
  auto type = mlir::RankedTensorType::get(shape, b.builder.getF32Type());
  mlir::Value argument = b.builder.getBlock()->addArgument(type, b.emitter.loc);
  return aten::TensorState::create(b.emitter.neg(argument));
}

// Whether gradients of `to` reach `from`.
bool reaches(mlir::Value to, mlir::Value from) {
  if (to == from)
    return true;
  mlir::Operation *op = to.getDefiningOp();
  return op && !mlir::isa<graph::StopGradientOp>(op) &&
         llvm::any_of(op->getOperands(), [&](mlir::Value v) { return reaches(v, from); });
}

} // namespace

TEST_CASE("reshaped columns are views where PyTorch's strides allow it") {
  AtenBench b;
  IValue x = b.counted({2, 3});
  IValue column = b.call("aten::select", {x, int64_t(1), int64_t(1)});
  b.call("aten::add_", {b.call("aten::unsqueeze", {column, int64_t(0)}), 10.0});
  CHECK(b.values(x) == Numbers{0, 11, 2, 3, 14, 5});
  IValue pair = b.call("aten::slice", {x, int64_t(1), int64_t(1), int64_t(3)});
  b.call("aten::zero_", {b.call("aten::view", {pair, ints({2, 2, 1})})});
  CHECK(b.values(x) == Numbers{0, 0, 0, 3, 0, 0});
  IValue twice = b.call("aten::t", {b.call("aten::t", {x})});
  b.call("aten::fill_", {b.call("aten::reshape", {twice, ints({-1})}), 7.0});
  CHECK(b.values(x) == Numbers(6, 7));
}

TEST_CASE("a reshape for which PyTorch copies is no view") {
  AtenBench b;
  IValue x = b.counted({2, 3});
  IValue part = b.call("aten::slice", {x, int64_t(1), int64_t(0), int64_t(2)});
  IValue copy = b.call("aten::reshape", {part, ints({-1})});
  b.call("aten::add_", {copy, 1.0});
  CHECK(b.values(x) == Numbers{0, 1, 2, 3, 4, 5});
  CHECK(b.values(copy) == Numbers{1, 2, 4, 5});
}

TEST_CASE(
    "where it is not known whether a reshape copies, a write to one forbids to read the other") {
  AtenBench b;
  IValue x = b.call("aten::neg", {b.call("aten::t", {b.counted({2, 3})})});
  IValue flat = b.call("aten::reshape", {x, ints({-1})});
  CHECK(b.values(flat) == Numbers{0, -3, -1, -4, -2, -5});
  b.call("aten::add_", {flat, 1.0});
  CHECK(b.values(flat) == Numbers{1, -2, 0, -3, -1, -4});
  CHECK_THAT(b.problem("aten::neg", {x}), Catch::Contains("shares its memory"));
}

TEST_CASE(
    "tensors that may share memory through two steps are not read after a write to one of them") {
  AtenBench b;
  IValue x = b.call("aten::neg", {b.call("aten::t", {b.counted({2, 3})})});
  IValue flat = b.call("aten::reshape", {x, ints({-1})});
  IValue again = b.call("aten::reshape", {flat, ints({2, 3})});
  b.call("aten::add_", {again, 1.0});
  CHECK(b.values(again) == Numbers{1, -2, 0, -3, -1, -4});
  for (const IValue &other : {flat, x})
    CHECK_THAT(b.problem("aten::neg", {other}), Catch::Contains("shares its memory"));
}

TEST_CASE("joined tensors keep their memory order") {
  AtenBench b;
  IValue part = b.call("aten::permute", {b.counted({1, 2, 1, 2}), ints({0, 3, 1, 2})});
  IValue x = b.call("aten::cat", {IValue::list({part, part}), int64_t(1)});
  b.call("aten::add_", {b.call("aten::reshape", {x, ints({-1})}), 1.0});
  CHECK_THAT(b.problem("aten::neg", {x}), Catch::Contains("shares its memory"));
}

TEST_CASE("a diagonal is a view") {
  AtenBench b;
  IValue x = b.counted({2, 3});
  b.call("aten::fill_", {b.call("aten::diagonal", {x}), 9.0});
  CHECK(b.values(x) == Numbers{9, 1, 2, 3, 9, 5});
  b.call("aten::add_", {b.call("aten::diagonal", {x, int64_t(1)}), 10.0});
  CHECK(b.values(x) == Numbers{9, 11, 2, 3, 9, 15});
  b.call("aten::zero_", {b.call("aten::diagonal", {x, int64_t(-1)})});
  CHECK(b.values(x) == Numbers{9, 11, 2, 0, 9, 15});
  b.call("aten::fill_diagonal_", {x, 1.0});
  CHECK(b.values(x) == Numbers{1, 11, 2, 0, 1, 15});
  IValue made = b.call("aten::diag_embed", {b.counted({2}), int64_t(-1)});
  CHECK(b.values(made) == Numbers{0, 0, 0, 0, 0, 0, 0, 1, 0});
}

TEST_CASE("windows of a dim cannot be written") {
  AtenBench b;
  IValue windows = b.call("aten::unfold", {b.counted({5}), int64_t(0), int64_t(2), int64_t(1)});
  CHECK_THAT(b.problem("aten::zero_", {windows}), Catch::Contains("several times"));
}

TEST_CASE("a write without gradients keeps the gradient of the former contents") {
  AtenBench b;
  IValue x = computed(b, {2, 2});
  mlir::Value before = x.tensor()->read(b.emitter);
  SECTION("in a block") {
    b.aten.gradients = false;
    b.call("aten::mul_", {b.call("aten::select", {x, int64_t(0), int64_t(0)}), 2.0});
  }
  SECTION("through a detached tensor") { b.call("aten::mul_", {b.call("aten::detach", {x}), 2.0}); }
  SECTION("through .data") { b.call("aten::mul_", {b.call("prim::data", {x}), 2.0}); }
  mlir::Value after = x.tensor()->read(b.emitter);
  CHECK(after != before);
  CHECK(reaches(after, before));
}

TEST_CASE("a parameter is not written in place") {
  AtenBench b;
  IValue weight = b.counted({2});
  weight.tensor()->storage()->isTrained = true;
  weight.tensor()->storage()->name = "fc.weight";
  CHECK_THAT(b.problem("aten::mul_", {weight, 2.0}),
             Catch::Contains("the parameter 'fc.weight', which only the optimizer changes"));
}

TEST_CASE("Python numbers in tensors do not widen other operands") {
  AtenBench b;
  IValue half = aten::TensorState::ofPythonNumber(
      b.tensor({}, {0.5}, ElementType::F64).tensor()->read(b.emitter));
  CHECK(b.read(b.call("aten::mul", {b.counted({2}, ElementType::I64), half})).type ==
        ElementType::F32);
  IValue own = b.tensor({}, {0.5}, ElementType::F64);
  CHECK(b.read(b.call("aten::mul", {b.counted({2}, ElementType::I64), own})).type ==
        ElementType::F64);
}

TEST_CASE("powers of integers are exact, quotients are floored once") {
  AtenBench b;
  IValue places = b.counted({6}, ElementType::I64);
  CHECK(b.values(b.call("aten::pow", {int64_t(2), places})) == Numbers{1, 2, 4, 8, 16, 32});
  Numbers tenths = b.values(b.call("aten::floor_divide", {b.tensor({3}, {1, 2, -1}), 0.1}));
  CHECK(tenths == Numbers{9, 19, -10});
}

TEST_CASE("fmax and fmin ignore NaN") {
  AtenBench b;
  IValue x = b.tensor({3}, {1, NAN, 3}), y = b.tensor({3}, {2, 2, NAN});
  CHECK(b.values(b.call("aten::fmax", {x, y})) == Numbers{2, 2, 3});
  CHECK(b.values(b.call("aten::fmin", {x, y})) == Numbers{1, 2, 3});
}

TEST_CASE("grids in image order have a row for every y") {
  AtenBench b;
  IValue grid = b.call("aten::meshgrid", {IValue::list({b.counted({3}), b.counted({2})})},
                       {{"indexing", "xy"}});
  Tensor x = b.read(grid);
  CHECK(x.shape == std::vector<int64_t>{2, 3});
  CHECK(x.values == Numbers{0, 1, 2, 0, 1, 2});
}

TEST_CASE("a divisor of average pooling applies to the last windows, too") {
  AtenBench b;
  IValue out = b.call("aten::avg_pool2d", {b.tensor({1, 1, 1, 3}, {1, 2, 3}), ints({1, 2}),
                                           ints({1, 2}), ints({0, 0}), true, true, int64_t(4)});
  CHECK(b.values(out) == Numbers{0.75, 0.75});
}

TEST_CASE("aligned corners ignore the factor") {
  AtenBench b;
  IValue x = b.tensor({1, 1, 3}, {0, 1, 2});
  IValue out = b.call("aten::upsample_linear1d", {x, ints({4}), true, 1.5});
  CHECK(b.read(out).values[3] == Approx(2));
  CHECK(b.read(out).values[1] == Approx(2.0 / 3));
}

TEST_CASE("a weight norm over all dims has one length") {
  AtenBench b;
  IValue v = b.tensor({2, 2}, {1, 1, 1, 1});
  IValue out = b.call("aten::_weight_norm", {v, b.tensor({}, {4}), int64_t(-1)});
  CHECK(b.values(out) == Numbers{2, 2, 2, 2});
}

TEST_CASE("a masked write broadcasts one row") {
  AtenBench b;
  IValue x = b.counted({3, 2}), mask = b.call("aten::gt", {b.counted({3}), 0.5});
  IValue out = b.call("aten::index_put", {x, IValue::list({mask}), b.tensor({2}, {7, 8})});
  CHECK(b.values(out) == Numbers{0, 1, 7, 8, 7, 8});
}

TEST_CASE("a mask of bytes is not taken for indices") {
  AtenBench b;
  IValue mask = b.tensor({3}, {1, 0, 1}, ElementType::U8);
  CHECK_THAT(b.problem("aten::index", {b.counted({3}), IValue::list({mask})}),
             Catch::Contains("mask of uint8"));
}

TEST_CASE("a scatter reduction without the old values begins with the neutral element") {
  AtenBench b;
  IValue x = b.tensor({3}, {10, 10, 10}), to = b.tensor({3}, {0, 0, 2}, ElementType::I64);
  IValue source = b.tensor({3}, {1, 4, 5});
  auto reduced = [&](const char *how, bool withSelf) {
    return b.values(b.call("aten::scatter_reduce", {x, int64_t(0), to, source, how},
                           {{"include_self", withSelf}}));
  };
  CHECK(reduced("sum", false) == Numbers{5, 10, 5});
  CHECK(reduced("amax", false) == Numbers{4, 10, 5});
  CHECK(reduced("mean", false) == Numbers{2.5, 10, 5});
  CHECK(reduced("mean", true) == Numbers{5, 10, 7.5});
}

TEST_CASE("max along a dim returns values and indices") {
  AtenBench b;
  std::vector<IValue> both =
      aten::call(b.aten, "aten::max", {b.tensor({2, 2}, {3, 3, 1, 2})}, {{"dim", int64_t(1)}});
  REQUIRE(both.size() == 2);
  CHECK(b.values(both[0]) == Numbers{3, 2});
  CHECK(b.values(both[1]) == Numbers{0, 1});
}

TEST_CASE("distances by any norm, also of equal rows") {
  AtenBench b;
  IValue x = b.tensor({2, 2}, {0, 0, 3, 4});
  CHECK(b.values(b.call("aten::cdist", {x, x, 1.0})) == Numbers{0, 7, 7, 0});
}
