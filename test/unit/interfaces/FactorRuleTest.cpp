// Factor rules: the notation, the layouts that follow from a split, and the valid splits.
#include "dialects/interfaces/FactorRule.h"

#include <catch2/catch.hpp>

using namespace cleave;

static const Mesh mesh{{{"dp", 2}, {"tp", 4}}};
static constexpr int dp = 0, tp = 1;

static FactorRule matmul() {
  return FactorRule::parse("b m k, b k n -> b m n", {{8, 5, 6}, {8, 6, 7}}, {{8, 5, 7}});
}

TEST_CASE("sizes come from the shapes, and a factor in no result is a reduction") {
  FactorRule rule = matmul();
  REQUIRE(rule.factors.size() == 4);
  CHECK(rule.factors[1].size == Polynomial(5));
  CHECK(rule.factors[2].size == Polynomial(6));
  CHECK(rule.factors[2].kind == FactorKind::Reduction);
  CHECK(rule.factors[3].kind == FactorKind::PassThrough);
  CHECK(rule.operands[1] == FactorRule::Dims{{0}, {2}, {3}});
  CHECK(rule.str() == "a b c, a c d -> a b d");
}

TEST_CASE("the reduction has the given kind") {
  FactorRule rule = FactorRule::parse("a b -> a", {{4, 4}}, {{4}}, ReduceKind::Max);
  CHECK(rule.factors[1].reduce == ReduceKind::Max);
  CHECK(resultSharding(rule, 0, {{dp}, {tp}}).str(mesh) == "[dp] partial(max tp)");
}

TEST_CASE("the factors of a product are found from other dims, with symbols too") {
  Polynomial batch = Polynomial::symbol("batch");
  FactorRule merge = FactorRule::parse("(i j) -> i j", {{batch * 6}}, {{batch, 6}});
  CHECK(merge.factors[0].size == batch);
  CHECK(merge.factors[1].size == Polynomial(6));
  CHECK(merge.str() == "(a b) -> a b");
  FactorRule derived =
      FactorRule::parse("(i j) -> (i j), i", {{batch * 6}}, {{batch * 6}, {batch}});
  CHECK(derived.factors[1].size == Polynomial(6));
}

TEST_CASE("scalars, several results, no operands and size-one dims can be written") {
  FactorRule loss = FactorRule::parse("b !c, b -> , b", {{4, 9}, {4}}, {{}, {4}});
  CHECK(loss.results[0].empty());
  CHECK(loss.factors[1].kind == FactorKind::Replicated);
  CHECK(loss.str() == "a !b, a -> , a");
  FactorRule scalar = FactorRule::parse(", ->", {{}, {}}, {{}});
  CHECK(scalar.operands.size() == 2);
  FactorRule iota = FactorRule::parse("-> n", {}, {{9}});
  CHECK(iota.operands.empty());
  CHECK(iota.factors[0].kind == FactorKind::PassThrough);
  FactorRule bias = FactorRule::parse("b c, 1 c -> b c", {{4, 9}, {1, 9}}, {{4, 9}});
  CHECK(bias.operands[1] == FactorRule::Dims{{2}, {1}});
  CHECK(bias.factors[2].kind == FactorKind::Replicated);
}

TEST_CASE("splitting factors lays out operands and results") {
  FactorRule rule = matmul();
  FactorAxes axes = {{dp}, {}, {tp}, {}};
  CHECK(operandSharding(rule, 0, axes).str(mesh) == "[dp, _, tp]");
  CHECK(operandSharding(rule, 1, axes).str(mesh) == "[dp, tp, _]");
  CHECK(resultSharding(rule, 0, axes).str(mesh) == "[dp, _, _] partial(tp)");
  CHECK(resultSharding(rule, 0, {{}, {}, {tp, dp}, {}}).str(mesh) == "[_, _, _] partial(dp+tp)");
}

TEST_CASE("a result is partial along a factor that only another result has") {
  FactorRule rule = FactorRule::parse("b c -> b c, c", {{8, 8}}, {{8, 8}, {8}});
  FactorAxes axes = {{dp}, {tp}};
  CHECK(resultSharding(rule, 0, axes).str(mesh) == "[dp, tp]");
  CHECK(resultSharding(rule, 1, axes).str(mesh) == "[tp] partial(dp)");
}

TEST_CASE("a result is partial along a reduction that only another result has") {
  FactorRule rule = FactorRule::parse("-> b c, c", {}, {{8, 8}, {8}});
  rule.factors[0].kind = FactorKind::Reduction; // the columns of a broadcast scalar are summed
  CHECK(resultSharding(rule, 0, {{dp}, {tp}}).str(mesh) == "[dp, tp]");
  CHECK(resultSharding(rule, 1, {{dp}, {tp}}).str(mesh) == "[tp] partial(dp)");
}

TEST_CASE("a result is whole along a factor that no operand has") {
  FactorRule broadcast = FactorRule::parse("m -> m n", {{8}}, {{8, 4}});
  CHECK(resultSharding(broadcast, 0, {{dp}, {tp}}).str(mesh) == "[dp, tp]");
  FactorRule twoResults = FactorRule::parse("m -> m n, m", {{8}}, {{8, 4}, {8}});
  CHECK(resultSharding(twoResults, 1, {{dp}, {tp}}).str(mesh) == "[dp]");
}

TEST_CASE("an axis splits one factor only, and never a whole one") {
  FactorRule softmax = FactorRule::parse("b !c -> b !c", {{8, 8}}, {{8, 8}});
  CHECK(isValidSplit(softmax, {{dp, tp}, {}}, mesh));
  CHECK_FALSE(isValidSplit(softmax, {{}, {dp}}, mesh));
  CHECK_FALSE(isValidSplit(matmul(), {{dp}, {dp}, {}, {}}, mesh));
  CHECK_FALSE(isValidSplit(matmul(), {{dp, dp}, {}, {}, {}}, mesh));
}

TEST_CASE(
    "a factor alone in its dims may be split unevenly, but into no more blocks than elements") {
  CHECK(isValidSplit(matmul(), {{}, {tp}, {}, {}}, mesh));           // 5 on 4
  CHECK(isValidSplit(matmul(), {{}, {dp}, {}, {tp}}, mesh));         // 5 on 2, 7 on 4
  CHECK_FALSE(isValidSplit(matmul(), {{}, {}, {dp, tp}, {}}, mesh)); // 6 on 8
  FactorRule symbolic =
      FactorRule::parse("b -> b", {{Polynomial::symbol("b")}}, {{Polynomial::symbol("b")}});
  CHECK(isValidSplit(symbolic, {{dp, tp}}, mesh));
}

TEST_CASE("of factors that share a dim only the major one may be split, evenly") {
  auto merge = [](int64_t i, int64_t j) {
    return FactorRule::parse("(i j) -> i j", {{i * j}}, {{i, j}});
  };
  CHECK(isValidSplit(merge(8, 3), {{tp}, {}}, mesh));
  CHECK_FALSE(isValidSplit(merge(6, 3), {{tp}, {}}, mesh));   // 6 on 4 is uneven
  CHECK_FALSE(isValidSplit(merge(8, 8), {{}, {tp}}, mesh));   // j is minor
  CHECK_FALSE(isValidSplit(merge(8, 8), {{dp}, {tp}}, mesh)); // the same with i split
  CHECK(isValidSplit(merge(1, 6), {{}, {tp}}, mesh));         // nothing before j
  CHECK(isValidSplit(merge(6, 1), {{tp}, {}}, mesh));         // nothing after i
  FactorRule three = FactorRule::parse("(i j k) -> i j k", {{32}}, {{1, 8, 4}});
  CHECK(isValidSplit(three, {{}, {tp}, {}}, mesh));
  CHECK_FALSE(isValidSplit(three, {{}, {}, {tp}}, mesh));
}

TEST_CASE("a symbolic major factor is divisible where its coefficients are") {
  Polynomial batch = Polynomial::symbol("batch");
  auto merge = [&](int64_t times) {
    return FactorRule::parse("(i j) -> i j", {{batch * times * 3}}, {{batch * times, 3}});
  };
  CHECK(isValidSplit(merge(4), {{tp}, {}}, mesh));
  CHECK_FALSE(isValidSplit(merge(2), {{tp}, {}}, mesh));
}

TEST_CASE("a factor alone in one dim still obeys the dim it shares") {
  FactorRule rule = FactorRule::parse("i, (i j) -> j", {{6}, {18}}, {{3}});
  CHECK_FALSE(isValidSplit(rule, {{tp}, {}}, mesh));
  CHECK(isValidSplit(rule, {{dp}, {}}, mesh));
}
