#include "compiler/planner/model/Products.h"

#include <algorithm>
#include <cmath>

namespace cleave::planner {

const char *name(FactorUse use) {
  static const char *const names[] = {"batch", "rows", "columns", "terms"};
  return names[static_cast<int>(use)];
}

static double sizeOf(const Factor &factor) {
  return static_cast<double>(factor.size.constant().value_or(1));
}

static bool has(const FactorRule::Dims &dims, int factor) {
  return std::any_of(dims.begin(), dims.end(), [&](const std::vector<int> &dim) {
    return std::find(dim.begin(), dim.end(), factor) != dim.end();
  });
}

static bool isProductOfTwo(const Op &op) {
  if (!op.work.isProduct || op.rule.operands.size() != 2 || op.rule.results.size() != 1)
    return false;
  double flops = 2;
  for (const Factor &factor : op.rule.factors)
    flops *= sizeOf(factor);
  return flops == op.work.flops;
}

std::optional<std::vector<FactorUse>> factorUses(const Op &op) {
  if (!isProductOfTwo(op))
    return std::nullopt;
  std::vector<FactorUse> uses;
  for (int f = 0; f < static_cast<int>(op.rule.factors.size()); ++f) {
    const bool isRow = has(op.rule.operands[0], f), isColumn = has(op.rule.operands[1], f);
    uses.push_back(!has(op.rule.results[0], f) ? FactorUse::Terms
                   : isRow && isColumn         ? FactorUse::Batch
                   : isRow                     ? FactorUse::Rows
                                               : FactorUse::Columns);
  }
  return uses;
}

MatrixSizes matrixSizes(const Op &op, const FactorAxes &axes, const Mesh &mesh) {
  const std::optional<std::vector<FactorUse>> uses = factorUses(op);
  if (!uses)
    return {};
  MatrixSizes sizes{.batch = 1, .m = 1, .n = 1, .k = 1};
  for (size_t f = 0; f < uses->size(); ++f) {
    double *const extents[] = {&sizes.batch, &sizes.m, &sizes.n, &sizes.k};
    *extents[static_cast<size_t>((*uses)[f])] *=
        std::ceil(sizeOf(op.rule.factors[f]) / static_cast<double>(mesh.ranksAlong(axes[f])));
  }
  return sizes;
}

GroupedSizes groupedSizes(const Op &op, const FactorAxes &axes, const Mesh &mesh) {
  GroupedSizes sizes = op.work.grouped;
  if (sizes.groups == 0)
    return sizes;
  int64_t *const extents[] = {&sizes.rows, &sizes.inputs, &sizes.outputs, &sizes.groups};
  for (size_t f = 0; f < std::size(extents); ++f) {
    const int64_t ranks = mesh.ranksAlong(axes[f]);
    *extents[f] = (*extents[f] + ranks - 1) / ranks;
  }
  return sizes;
}

} // namespace cleave::planner
