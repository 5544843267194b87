// Numbers of the program: arithmetic with symbols, conversions, lists.
#include "test/unit/aten/AtenBench.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::test;
using aten::IValue;

TEST_CASE("integers with symbols are computed as polynomials") {
  AtenBench b;
  IValue seq(Polynomial::symbol("seq"));
  IValue twice = b.call("aten::mul", {seq, int64_t(2)});
  CHECK(b.call("aten::add", {twice, int64_t(3)}).integer().str() == "2*seq + 3");
  CHECK(b.call("aten::floordiv", {twice, int64_t(2)}).integer().str() == "seq");
  CHECK(b.call("aten::gt", {seq, int64_t(1)}).boolean());
  CHECK_THAT(b.problem("aten::gt", {seq, int64_t(100)}), Catch::Contains("--set seq=8"));
}

TEST_CASE("integers are divided as Python does") {
  AtenBench b;
  CHECK(b.call("aten::floordiv", {int64_t(-7), int64_t(2)}).integer() == Polynomial(-4));
  CHECK(b.call("aten::remainder", {int64_t(-7), int64_t(2)}).integer() == Polynomial(1));
  CHECK(b.call("aten::div", {int64_t(7), int64_t(2)}).number() == 3.5);
  CHECK(b.problem("aten::floordiv", {int64_t(1), int64_t(0)}) == "aten::floordiv: divides by 0");
}

TEST_CASE("a number that became a tensor can be read again") {
  AtenBench b;
  IValue seq(Polynomial::symbol("seq"));
  IValue tensor = b.call("prim::NumToTensor", {seq});
  CHECK(b.call("aten::Int", {tensor}).integer().str() == "seq");
  IValue known = b.call("aten::mul", {b.tensor({}, {6}, ElementType::I64), int64_t(7)});
  CHECK(b.call("aten::Int", {known}).integer() == Polynomial(42));
  CHECK(b.call("aten::size", {b.counted({2, 3}), int64_t(-1)}).integer() == Polynomial(3));
}

TEST_CASE("a slice to the largest position ends where the tensor does, whatever its size") {
  AtenBench b;
  IValue seq(Polynomial::symbol("seq"));
  IValue zeros = b.call("aten::zeros", {IValue::list({seq})});
  IValue rest = b.call("aten::slice", {zeros, int64_t(0), int64_t(1), INT64_MAX});
  CHECK(b.call("aten::size", {rest, int64_t(0)}).integer().str() == "seq - 1");
}

TEST_CASE("lists are shared") {
  AtenBench b;
  IValue list = ints({1, 2});
  b.call("aten::append", {list, int64_t(5)});
  CHECK(b.call("aten::len", {list}).integer() == Polynomial(3));
  CHECK(aten::call(b.aten, "aten::__getitem__", {list, int64_t(-1)})[0].integer() == Polynomial(5));
  CHECK(b.problem("aten::__getitem__", {list, int64_t(3)}) ==
        "aten::__getitem__: takes item 3 of 3");
}
