#include "compiler/planner/choices/Zigzag.h"

#include <algorithm>

namespace cleave::planner {

int dimOfFactor(const FactorRule::Dims &dims, int factor) {
  const auto at = std::find(dims.begin(), dims.end(), std::vector<int>{factor});
  return at == dims.end() ? -1 : static_cast<int>(at - dims.begin());
}

// Whether the factor is the whole of every dim that it occurs in.
static bool standsAlone(const std::vector<FactorRule::Dims> &tensors, int factor) {
  for (const FactorRule::Dims &dims : tensors)
    for (const std::vector<int> &dim : dims)
      if (dim.size() > 1 && std::find(dim.begin(), dim.end(), factor) != dim.end())
        return false;
  return true;
}

std::optional<int> zigzagFactor(const Op &op, const FactorAxes &factors, const Mesh &mesh) {
  if (!op.triangle)
    return std::nullopt;
  const auto [queries, keys] = *op.triangle;
  const int64_t size = op.rule.factors[queries].size.constant().value_or(0),
                ranks = mesh.ranksAlong(factors[queries]);
  const bool isPossible = ranks > 1 && mesh.ranksAlong(factors[keys]) == 1 &&
                          op.rule.factors[keys].size == op.rule.factors[queries].size &&
                          size % (2 * ranks) == 0 && standsAlone(op.rule.operands, queries) &&
                          standsAlone(op.rule.results, queries);
  return isPossible ? std::optional(queries) : std::nullopt;
}

} // namespace cleave::planner
