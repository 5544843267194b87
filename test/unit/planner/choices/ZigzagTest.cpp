// Which attentions can run in zigzag, and that it gives every rank the same number of scores.
#include "compiler/planner/choices/Zigzag.h"
#include "runtime/base/Concat.h"
#include "test/unit/planner/Facts.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace cleave;
using namespace cleave::planner;
using namespace cleave::test;

namespace {

const Mesh kMeshOf6 = *Mesh::parse("a=2,b=3");

Op attention(int64_t queries, int64_t keys, const std::string &attributes = "causal, ") {
  const std::string q = concat("tensor<2x4x", queries, "x8xf32>"),
                    k = concat("tensor<2x4x", keys, "x8xf32>");
  const std::string text =
      concat("func.func @step(%q: ", q, ", %k: ", k, ") -> ", q, " {\n  %y, %l = graph.attention ",
             "%q, %k, %k {", attributes, "scale = 1.0 : f64} : (", q, ", ", k, ", ", k, ") -> (", q,
             ", tensor<2x4x", queries, "xf32>)\n  return %y : ", q, "\n}");
  return modelOf(text).ops[0];
}

// The factor of the op in zigzag when its queries are split over `axes`.
std::optional<int> factorOf(const Op &op, const std::vector<int> &axes) {
  FactorAxes factors(op.rule.factors.size());
  factors[op.rule.operands[0][2][0]] = axes;
  return zigzagFactor(op, factors, kMeshOf6);
}

} // namespace

TEST_CASE("a causal attention whose queries are split evenly can run in zigzag") {
  const Op op = attention(24, 24);
  const int queries = op.rule.operands[0][2][0];
  CHECK(factorOf(op, {0}) == queries);
  CHECK(factorOf(op, {0, 1}) == queries);
  CHECK(factorOf(op, {}) == std::nullopt);
  CHECK(dimOfFactor(op.rule.operands[0], queries) == 2);
  CHECK(dimOfFactor(op.rule.operands[1], queries) == -1); // keys
}

TEST_CASE("zigzag needs equal halves, as many queries as keys, and a causal mask") {
  CHECK(factorOf(attention(18, 18), {0}) == std::nullopt); // blocks of 9
  CHECK(factorOf(attention(18, 18), {1}).has_value());     // blocks of 6
  CHECK(factorOf(attention(25, 25), {0}) == std::nullopt);
  CHECK(factorOf(attention(24, 48), {0}) == std::nullopt);
  CHECK(factorOf(attention(24, 24, ""), {0}) == std::nullopt);
}

TEST_CASE("both halves of a rank see as many keys on every rank") {
  for (const int64_t ranks : {2, 3, 4, 7}) {
    const int64_t half = 5, size = 2 * half * ranks;
    auto seen = [&](int64_t begin) { // by `half` queries from `begin` on
      int64_t keys = 0;
      for (int64_t query = begin; query < begin + half; ++query)
        keys += query + 1;
      return keys;
    };
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const int64_t own = 2 * half * rank;
      CHECK(seen(own) + seen(size - half - own) == size * (size + 1) / 2 / ranks);
    }
  }
}
