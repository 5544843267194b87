#include "compiler/planner/choices/Padding.h"

namespace cleave::planner {

std::vector<PaddedDim> paddedDims(const FactorRule &rule, const FactorAxes &axes, const Mesh &mesh,
                                  const std::vector<ElementType> &operands, ElementType result) {
  std::vector<PaddedDim> padded;
  for (size_t i = 0; i < rule.operands.size(); ++i) {
    if (operands[i] != result && !isFloat(operands[i]))
      continue;
    for (size_t d = 0; d < rule.operands[i].size(); ++d)
      for (int f : rule.operands[i][d]) {
        const Factor &factor = rule.factors[f];
        const int64_t size = *factor.size.constant();
        if (!axes[f].empty() && factor.kind == FactorKind::Reduction &&
            size % mesh.ranksAlong(axes[f]))
          padded.push_back(
              {static_cast<unsigned>(i), static_cast<int64_t>(d), f, size, factor.reduce});
      }
  }
  return padded;
}

} // namespace cleave::planner
