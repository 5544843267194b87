// Semantics that are special to PyTorch; the formulas are tested in test/unit/emit.
#include "dialects/graph/StopGradient.h"
#include "test/unit/aten/AtenBench.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace cleave;
using namespace cleave::test;
using aten::IValue;
using Numbers = std::vector<double>;

TEST_CASE("types are promoted as PyTorch does") {
  AtenBench b;
  auto type = [&](const IValue &x, const IValue &y) {
    return b.read(b.call("aten::add", {x, y})).type;
  };
  IValue floats = b.counted({2}), whole = b.counted({2}, ElementType::I64);
  IValue half = b.counted({2}, ElementType::F16), bytes = b.counted({2}, ElementType::U8);
  CHECK(type(floats, whole) == ElementType::F32);
  CHECK(type(whole, 0.5) == ElementType::F32);
  CHECK(type(bytes, int64_t(3)) == ElementType::U8);
  CHECK(type(half, 0.5) == ElementType::F16);
  CHECK(type(half, b.tensor({}, {1}, ElementType::F32)) == ElementType::F16);
  CHECK(type(bytes, b.counted({2}, ElementType::I8)) == ElementType::I16);
}

TEST_CASE("division of integers is true division unless it is rounded") {
  AtenBench b;
  IValue x = b.tensor({2}, {-7, 7}, ElementType::I64);
  CHECK(b.values(b.call("aten::div", {x, int64_t(2)})) == Numbers{-3.5, 3.5});
  CHECK(b.values(b.call("aten::div", {x, int64_t(2)}, {{"rounding_mode", "floor"}})) ==
        Numbers{-4, 3});
  CHECK(b.values(b.call("aten::div", {x, int64_t(2)}, {{"rounding_mode", "trunc"}})) ==
        Numbers{-3, 3});
  CHECK(b.values(b.call("aten::remainder", {x, int64_t(4)})) == Numbers{1, 3});
}

TEST_CASE("numbers take the precision of the tensors in an operation") {
  AtenBench b;
  IValue x = b.tensor({2}, {1, -1}, ElementType::F64), i = b.tensor({1}, {0}, ElementType::I64);
  CHECK(b.values(b.call("aten::mul", {x, 0.1})) == Numbers{0.1, -0.1});
  CHECK(b.values(b.call("aten::scatter", {x, int64_t(0), i, 0.1})) == Numbers{0.1, -1});
  CHECK(b.values(b.call("aten::index_fill", {x, int64_t(0), i, 0.1})) == Numbers{0.1, -1});
  CHECK(b.values(b.call("aten::selu", {x}))[0] == 1.0507009873554804934);
  IValue quarter = b.tensor({1}, {-0.2499}, ElementType::F64);
  CHECK(b.values(b.call("aten::expm1", {quarter}))[0] ==
        Approx(std::expm1(-0.2499)).epsilon(1e-15));
  IValue endless = b.call("aten::div", {x, 0.0});
  CHECK(b.values(b.call("aten::nan_to_num", {endless})) ==
        Numbers{std::numeric_limits<double>::max(), -std::numeric_limits<double>::max()});
  IValue half = b.call("aten::to", {endless, aten::dtypeOf(ElementType::F16)});
  CHECK(b.values(b.call("aten::nan_to_num", {half})) == Numbers{65504, -65504});
}

TEST_CASE("a loss of tensors of two types has the wider type") {
  AtenBench b;
  IValue x = b.tensor({1}, {1}, ElementType::F16), target = b.tensor({1}, {1 + 0x1p-20});
  CHECK(b.values(b.call("aten::mse_loss", {x, target})) == Numbers{0x1p-40});
}

TEST_CASE("adjacent index dims stay in place, others move to the front") {
  AtenBench b;
  IValue x = b.counted({2, 3, 2}), i = b.tensor({2}, {1, 0}, ElementType::I64);
  IValue neighbours = IValue::list({{}, i, i}), apart = IValue::list({i, {}, i});
  Tensor near = b.read(b.call("aten::index", {x, neighbours}));
  CHECK(near.shape == std::vector<int64_t>{2, 2});
  CHECK(near.values == Numbers{3, 0, 9, 6});
  Tensor far = b.read(b.call("aten::index", {x, apart}));
  CHECK(far.shape == std::vector<int64_t>{2, 3});
  CHECK(far.values == Numbers{7, 9, 11, 0, 2, 4});
}

TEST_CASE("a masked write of one number works, a selection of data-dependent size does not") {
  AtenBench b;
  IValue x = b.counted({4}), mask = b.call("aten::gt", {x, 1.5});
  IValue written = b.call("aten::index_put", {x, IValue::list({mask}), b.tensor({}, {9})});
  CHECK(b.values(written) == Numbers{0, 1, 9, 9});
  CHECK_THAT(b.problem("aten::index", {x, IValue::list({mask})}),
             Catch::Contains("depends on data; use torch.where"));
}

// The gradient stops among the ops that compute the value.
static int64_t stopsOf(AtenBench &b) {
  return llvm::count_if(*b.emitter.b.getBlock(),
                        [](mlir::Operation &op) { return mlir::isa<graph::StopGradientOp>(op); });
}

TEST_CASE("detached tensors and rows of padding are constants to gradients") {
  AtenBench b;
  IValue x = b.call("aten::exp", {b.counted({3, 2})});
  b.call("aten::detach", {x});
  CHECK(stopsOf(b) == 1);
  b.call("aten::requires_grad_", {x, false});
  CHECK(stopsOf(b) == 2);
  IValue words = b.tensor({2}, {2, 0}, ElementType::I64);
  b.call("aten::embedding", {x, words});
  CHECK(stopsOf(b) == 2);
  b.call("aten::embedding", {x, words, int64_t(0)});
  CHECK(stopsOf(b) == 3);
  CHECK_THAT(b.problem("aten::embedding", {x, words, int64_t(0), true}),
             Catch::Contains("scale_grad_by_freq"));
}

TEST_CASE(
    "results computed without gradients are constants to gradients, also when written in place") {
  AtenBench b;
  IValue x = b.call("aten::exp", {b.counted({2})});
  b.aten.gradients = false;
  IValue y = b.call("aten::exp", {x});
  CHECK(stopsOf(b) == 1);
  b.call("aten::size", {x, int64_t(0)});
  CHECK(stopsOf(b) == 1);
  b.call("aten::add_", {y, 1.0});
  CHECK(stopsOf(b) == 2);
  CHECK(y.tensor()->read(b.emitter).getDefiningOp<graph::StopGradientOp>());
}

TEST_CASE("dropout is in the step only if exported in training mode") {
  AtenBench b;
  IValue x = b.counted({4});
  CHECK(b.values(b.call("aten::dropout", {x, 0.5, false})) == Numbers{0, 1, 2, 3});
  CHECK(b.values(b.call("aten::dropout", {x, 0.0, true})) == Numbers{0, 1, 2, 3});
  IValue dropped = b.call("aten::dropout", {x, 0.5, true});
  CHECK(dropped.tensor()->read(b.emitter).getDefiningOp<graph::DropoutOp>());
  CHECK_THAT(b.problem("aten::alpha_dropout", {x, 0.5, true}), Catch::Contains("eval mode"));
}

TEST_CASE("attention drops weights with the given probability") {
  AtenBench b;
  IValue x = b.counted({2, 3, 4});
  auto rateOf = [&](double rate) {
    IValue out = b.call("aten::scaled_dot_product_attention", {x, x, x, {}, rate});
    auto op = out.tensor()->read(b.emitter).getDefiningOp<graph::AttentionOp>();
    REQUIRE(op);
    return op.getDropRate();
  };
  CHECK(rateOf(0.25) == 0.25);
  CHECK(rateOf(0) == 0);
  CHECK_THAT(b.problem("aten::scaled_dot_product_attention", {x, x, x, {}, 1.5}),
             Catch::Contains("expected 0 to 1"));
}

TEST_CASE("running statistics are updated in place") {
  AtenBench b;
  IValue x = b.tensor({2, 1}, {1, 3}), mean = b.tensor({1}, {0}), variance = b.tensor({1}, {1});
  IValue out = b.call("aten::batch_norm", {x, {}, {}, mean, variance, true, 0.5, 0.0, false});
  CHECK(b.values(out) == Numbers{-1, 1});
  CHECK(b.values(mean) == Numbers{1});
  CHECK(b.values(variance) == Numbers{1.5});
}

TEST_CASE("groups of rows are multiplied by a matrix each, rows in no group become 0") {
  AtenBench b;
  IValue x = b.counted({5, 2}), weights = b.tensor({3, 2, 1}, {1, 1, 10, 10, 1, -1});
  IValue ends = b.tensor({3}, {2, 2, 4}, ElementType::I32); // the second group is empty
  CHECK(b.values(b.call("aten::_grouped_mm", {x, weights, ends})) == Numbers{1, 5, -1, -1, 0});
  CHECK(b.values(b.call("transformers::grouped_mm_fallback", {x, weights, ends})) ==
        Numbers{1, 5, -1, -1, 0});
  CHECK(b.values(b.call("aten::_grouped_mm", {b.counted({3, 1, 2}), weights})) ==
        Numbers{1, 50, -1});
  CHECK_THAT(b.problem("aten::_grouped_mm", {x, weights}), Catch::Contains("without groups"));
  CHECK_THAT(b.problem("aten::_grouped_mm", {x, weights, b.counted({2}, ElementType::I32)}),
             Catch::Contains("[groups, in, out] and [groups]"));
}

TEST_CASE("a histogram counts what is between its bounds, both included") {
  AtenBench b;
  IValue x = b.tensor({2, 4}, {-1, 0, 0.9, 1, 2.5, 3, 3, 3.1});
  CHECK(b.values(b.call("aten::histc", {x, int64_t(3), 0.0, 3.0})) == Numbers{2, 1, 3});
  IValue experts = b.tensor({5}, {0, 3, 3, 1, 9}, ElementType::I32);
  Tensor counts = b.read(b.call("aten::histc", {experts, int64_t(4), int64_t(0), int64_t(3)}));
  CHECK(counts.values == Numbers{1, 1, 0, 2});
  CHECK(counts.type == ElementType::I32);
  CHECK_THAT(b.problem("aten::histc", {x}), Catch::Contains("do not depend on data"));
}
