// Selection of the form of an operator by the arguments of a call.
#include "test/unit/aten/AtenBench.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::test;
using aten::IValue;
using Numbers = std::vector<double>;

TEST_CASE("arguments are taken by position and by name") {
  AtenBench b;
  IValue x = b.counted({2, 2});
  CHECK(b.values(b.call("aten::sum", {x, ints({0})})) == Numbers{2, 4});
  CHECK(b.values(b.call("aten::sum", {}, {{"self", x}, {"dim", ints({1})}})) == Numbers{1, 5});
  CHECK(b.values(b.call("aten::sum", {x})) == Numbers{6});
}

TEST_CASE("the form of an operator follows from the kinds of its arguments") {
  AtenBench b;
  IValue x = b.tensor({3}, {1, 5, 3}), y = b.tensor({3}, {4, 2, 3});
  CHECK(b.values(b.call("aten::max", {x, y})) == Numbers{4, 5, 3});
  CHECK(b.values(b.call("aten::max", {x})) == Numbers{5});
  aten::IValueList both = aten::call(b.aten, "aten::max", {x, int64_t(0)});
  REQUIRE(both.size() == 2);
  CHECK(b.values(both[1]) == Numbers{1});
}

TEST_CASE("a call that matches no form reports its arguments") {
  AtenBench b;
  CHECK(b.problem("aten::relu", {int64_t(1)}) ==
        "aten::relu: has a int as 'self', expected tensor");
  CHECK(b.problem("aten::relu", {b.counted({1}), int64_t(1)}) ==
        "aten::relu: has 2 arguments, expected at most 1");
  CHECK(b.problem("aten::linear", {b.counted({1})}) == "aten::linear: lacks the argument 'weight'");
  CHECK_THAT(b.problem("aten::to", {"text"}), Catch::Contains("none of its"));
  CHECK(b.problem("aten::lgamma_", {b.counted({1})}) == "aten::lgamma_: is not supported");
}

TEST_CASE("operators are known by name, in-place forms included") {
  CHECK(aten::knows("aten::add"));
  CHECK(aten::knows("aten::add_"));
  CHECK(aten::knows("prim::NumToTensor"));
  CHECK_FALSE(aten::knows("aten::lgamma_"));
  CHECK_FALSE(aten::knows("custom::add"));
}
