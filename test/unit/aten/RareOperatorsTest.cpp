// Operators of rare use: refusals and what the recorded models (test/models/torch/operators) do not
// have.
#include "test/unit/aten/AtenBench.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace cleave;
using namespace cleave::test;
using aten::IValue;
using Numbers = std::vector<double>;

namespace {

IValue argument(AtenBench &b, const std::vector<int64_t> &shape, mlir::Type element) {
  auto type = mlir::RankedTensorType::get(shape, element);
  return aten::TensorState::create(b.builder.getBlock()->addArgument(type, b.emitter.loc));
}

} // namespace

TEST_CASE("a bag without rows is zero, and rows of padding are in no bag") {
  AtenBench b;
  IValue table = b.counted({3, 2}), words = b.tensor({4}, {2, 1, 1, 0}, ElementType::I64);
  IValue begins = b.tensor({3}, {0, 1, 1}, ElementType::I64);
  auto bag = [&](int64_t mode, IValue padding) {
    return b.values(
        b.call("aten::_embedding_bag",
               {table, words, begins, false, mode, false, {}, false, std::move(padding)}));
  };
  CHECK(bag(0, int64_t(-1)) == Numbers{4, 5, 0, 0, 4, 7});
  CHECK(bag(1, int64_t(0)) == Numbers{4, 5, 0, 0, 2, 3});
  CHECK(bag(2, int64_t(1)) == Numbers{4, 5, 0, 0, 0, 1});
  CHECK(bag(2, int64_t(2)) == Numbers{0, 0, 0, 0, 2, 3});
  CHECK_THAT(b.problem("aten::_embedding_bag", {table, words, begins, true}),
             Catch::Contains("scale_grad_by_freq"));
  CHECK_THAT(
      b.problem("aten::_embedding_bag", {table, b.counted({2, 2}, ElementType::I64), begins}),
      Catch::Contains("expected one dim of each"));
  CHECK_THAT(b.problem("aten::_embedding_bag", {table, words, begins, false, int64_t(3)}),
             Catch::Contains("has the mode 3, expected 0 to 2"));
}

TEST_CASE("memory is shown by strides, also that of a transposed tensor") {
  AtenBench b;
  IValue x = b.counted({2, 3});
  CHECK(b.values(b.call("aten::as_strided", {b.call("aten::t", {x}), ints({6}), ints({1})})) ==
        Numbers{0, 1, 2, 3, 4, 5});
  IValue part = b.call("aten::select", {x, int64_t(0), int64_t(1)});
  CHECK(b.values(b.call("aten::as_strided", {part, ints({2}), ints({3}), int64_t(1)})) ==
        Numbers{1, 4});
  CHECK_THAT(b.problem("aten::as_strided", {part, ints({2}), ints({1})}),
             Catch::Contains("the tensor's place is not known"));
  IValue copy = b.call("aten::neg", {b.call("aten::t", {x})});
  CHECK_THAT(b.problem("aten::as_strided", {copy, ints({2}), ints({1})}),
             Catch::Contains("call contiguous() before"));
  CHECK_THAT(b.problem("aten::as_strided", {x, ints({2, 3}), ints({3, 2})}),
             Catch::Contains("shows element 7 of a tensor of 6 elements"));
  CHECK_THAT(b.problem("aten::as_strided", {x, ints({2}), ints({3, 1})}),
             Catch::Contains("has 2 strides for 1 dims"));
  CHECK_THAT(b.problem("aten::as_strided", {x, ints({2}), ints({-1})}),
             Catch::Contains("expected none below 0"));
}

TEST_CASE("a view by strides is written if it shows no element twice") {
  AtenBench b;
  IValue x = b.counted({2, 3});
  b.call("aten::zero_", {b.call("aten::as_strided", {x, ints({2, 2}), ints({3, 2})})});
  CHECK(b.values(x) == Numbers{0, 1, 0, 0, 4, 0});
  IValue twice = b.call("aten::as_strided", {x, ints({2, 2}), ints({1, 1})});
  CHECK_THAT(b.problem("aten::zero_", {twice}), Catch::Contains("several times"));
}

TEST_CASE("numbers are counted if it is known that there are bins for them") {
  AtenBench b;
  mlir::Type integer = b.builder.getI64Type();
  IValue words = argument(b, {4}, integer), other = b.call("aten::mul", {words, int64_t(2)});
  auto problem = [&](const IValue &x, int64_t bins) {
    return b.problem("aten::bincount", {x, {}, bins});
  };
  CHECK(problem(words, 3) == "");
  CHECK(problem(b.call("aten::remainder", {other, int64_t(3)}), 3) == "");
  CHECK(problem(b.call("aten::clamp", {other, {}, int64_t(4)}), 5) == "");
  IValue scores = argument(b, {4, 6}, b.builder.getF32Type());
  CHECK(problem(b.call("aten::argmax", {scores, int64_t(1)}), 6) == "");
  CHECK_THAT(problem(b.call("aten::argmax", {scores, int64_t(1)}), 5),
             Catch::Contains("has numbers below 6, expected less than 5; clamp them"));
  CHECK_THAT(problem(other, 3), Catch::Contains("it is not known that they are less than 3; clamp "
                                                "them (clamp(max=2))"));
  CHECK_THAT(problem(words, 0), Catch::Contains("give the number of bins (minlength)"));
  CHECK_THAT(problem(b.call("aten::view", {words, ints({2, 2})}), 3),
             Catch::Contains("expected one dim"));
}

TEST_CASE("options of rare operators that Cleave does not have are refused") {
  AtenBench b;
  IValue x = b.counted({2, 3}), line = b.counted({16});
  CHECK_THAT(b.problem("aten::quantile", {x, 1.5}),
             Catch::Contains("quantile 1.5, expected 0 to 1"));
  CHECK_THAT(b.problem("aten::quantile", {x, x}), Catch::Contains("expected at most one dim"));
  CHECK_THAT(b.problem("aten::quantile", {x, 0.5}, {{"interpolation", "cubic"}}),
             Catch::Contains("interpolates by 'cubic', expected linear"));
  CHECK_THAT(b.problem("aten::searchsorted", {x, b.counted({3, 2})}),
             Catch::Contains("expected the same sizes before the last dim"));
  CHECK_THAT(b.problem("aten::bucketize", {line, x}), Catch::Contains("expected one dim"));
  CHECK_THAT(b.problem("aten::stft", {line, int64_t(8), int64_t(2), int64_t(9)}),
             Catch::Contains("a window that is not longer than a frame"));
  CHECK_THAT(b.problem("aten::stft", {line, int64_t(8), int64_t(2), int64_t(4), x}),
             Catch::Contains("expected [4]"));
  CHECK_THAT(b.problem("aten::istft", {x, int64_t(4)}), Catch::Contains("expected complex ones"));
  CHECK_THAT(b.problem("aten::matrix_exp", {x}), Catch::Contains("expected square ones"));
  CHECK_THAT(
      b.problem("aten::multi_margin_loss", {x, b.counted({2}, ElementType::I64), int64_t(3)}),
      Catch::Contains("has the power 3, expected 1 or 2"));
  CHECK_THAT(b.problem("aten::_foreach_add", {IValue::list({x, x}), IValue::list({x})}),
             Catch::Contains("has lists of 2 and 1 items"));
  CHECK_THAT(b.problem("aten::kaiser_window", {int64_t(4), true, 1e4}),
             Catch::Contains("expected at most 700"));
}

TEST_CASE("the exponential of a matrix too large for it is not a number") {
  AtenBench b;
  auto exp = [&](double x) {
    return b.values(b.call("aten::matrix_exp", {b.tensor({1, 1}, {x}, ElementType::F64)}))[0];
  };
  for (double x : {-30.0, -1.0, 0.0, 0.4, 2.0, 600.0})
    CHECK(exp(x) == Approx(std::exp(x)).epsilon(1e-12));
  CHECK(std::isnan(exp(-2049)));
}

TEST_CASE("functions have their values at bounds and far from zero") {
  AtenBench b;
  constexpr double endless = std::numeric_limits<double>::infinity();
  auto at = [&](const char *name, const Numbers &x) {
    const auto size = static_cast<int64_t>(x.size());
    return b.values(b.call(name, {b.tensor({size}, x, ElementType::F64)}));
  };
  CHECK(at("aten::erfinv", {-1, 0, 1}) == Numbers{-endless, 0, endless});
  CHECK(std::isnan(at("aten::erfinv", {1.5})[0]));
  for (double x : {-0.9999999999, -0.5, 1e-12, 1e-3, 0.7, 0.999})
    CHECK(std::erf(at("aten::erfinv", {x})[0]) == Approx(x).epsilon(1e-12));
  CHECK(at("aten::signbit", {-0.0, 0.0, -1, 1, -endless}) == Numbers{1, 0, 1, 0, 1});
  IValue x = b.tensor({3}, {-endless, endless, 1000}, ElementType::F64);
  CHECK(b.values(b.call("aten::logaddexp2", {x, x})) == Numbers{-endless, endless, 1001});
  IValue sums =
      b.call("aten::logcumsumexp", {b.tensor({3}, {-endless, -endless, 800}), int64_t(0)});
  CHECK(b.values(sums) == Numbers{-endless, -endless, 800});
}

TEST_CASE("strides are those of PyTorch's memory") {
  AtenBench b;
  IValue turned = b.call("aten::t", {b.counted({2, 3})});
  CHECK(b.call("aten::stride", {turned, int64_t(1)}).integer() == Polynomial(3));
  IValue copy = b.call("aten::neg", {turned});
  CHECK_THAT(b.problem("aten::stride", {copy}), Catch::Contains("call contiguous() before"));
}

TEST_CASE("operators of TorchScript's first years say shapes and ranges") {
  AtenBench b;
  CHECK(b.call("prim::shape", {b.counted({2, 3})}).integer() == Polynomial(2));
  CHECK(b.call("prim::rangelist", {int64_t(3)}).integer() == Polynomial(0));
  auto length = [&](int64_t low, int64_t high, int64_t step) {
    return b.call("aten::__range_length", {low, high, step}).integer();
  };
  CHECK(length(1, 8, 3) == Polynomial(3));
  CHECK(length(8, 1, -3) == Polynomial(3));
  CHECK(length(5, 2, 1) == Polynomial(0));
  CHECK(b.call("aten::__derive_index", {int64_t(2), int64_t(1), int64_t(3)}).integer() ==
        Polynomial(7));
  CHECK_THAT(b.problem("aten::__range_length", {int64_t(0), int64_t(1), int64_t(0)}),
             Catch::Contains("a step of 0"));
}
