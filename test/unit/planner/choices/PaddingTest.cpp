// The operands of which a rank's block has to be masked.
#include "compiler/planner/choices/Padding.h"

#include <catch2/catch.hpp>

using namespace cleave;
using namespace cleave::planner;

namespace {

// A product of matrices of `m` x `k` and `k` x `n`; factors are m, k, n.
FactorRule product(int64_t m, int64_t k, int64_t n, ReduceKind reduce = ReduceKind::Sum) {
  return FactorRule::parse("m k, k n -> m n", {{m, k}, {k, n}}, {{m, n}}, reduce);
}

// `operand.dim` of all that is masked, if all axes of a mesh of four ranks split factor `f`.
std::string maskedBy(const FactorRule &rule, int f,
                     std::vector<ElementType> operands = {ElementType::F32, ElementType::F32},
                     ElementType result = ElementType::F32) {
  FactorAxes axes(rule.factors.size());
  axes[f] = {0, 1};
  std::string found;
  for (const PaddedDim &padded : paddedDims(rule, axes, {{{"a", 2}, {"b", 2}}}, operands, result)) {
    CHECK(padded.factor == f);
    CHECK(padded.size == *rule.factors[f].size.constant());
    CHECK(padded.reduce == rule.factors[f].reduce);
    found += std::to_string(padded.operand) + "." + std::to_string(padded.dim) + " ";
  }
  return found;
}

} // namespace

TEST_CASE("uneven blocks of a factor that is reduced are masked in every operand") {
  CHECK(maskedBy(product(8, 6, 8), 1) == "0.1 1.0 ");
  CHECK(maskedBy(product(8, 6, 8, ReduceKind::Max), 1) == "0.1 1.0 ");
  CHECK(maskedBy(product(8, 8, 8), 1) == ""); // even
  CHECK(maskedBy(product(6, 8, 8), 0) == ""); // not reduced
}

TEST_CASE("integers that the op does not combine are positions, which need no mask") {
  const FactorRule rule = product(8, 6, 8);
  CHECK(maskedBy(rule, 1, {ElementType::I64, ElementType::F32}) == "1.0 ");
  CHECK(maskedBy(rule, 1, {ElementType::I64, ElementType::I64}, ElementType::I64) == "0.1 1.0 ");
  CHECK(maskedBy(rule, 1, {ElementType::BF16, ElementType::BF16}, ElementType::F32) == "0.1 1.0 ");
}
