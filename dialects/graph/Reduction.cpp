// Reduction: graph.reduce.
#include "dialects/graph/Pointwise.h"

#include <limits>

using namespace mlir;

namespace cleave::graph {

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  Shape result;
  for (auto [dim, size] : llvm::enumerate(shapeOf(adaptor.getOperand())))
    if (!llvm::is_contained(adaptor.getDims(), static_cast<int64_t>(dim)))
      result.push_back(size);
  types.push_back(tensorOf(result, elementTypeOf(adaptor.getOperand())));
  return success();
}

LogicalResult ReduceOp::verify() {
  SmallVector<int64_t> sorted(getDims());
  llvm::sort(sorted);
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return emitOpError() << "reduces a dim twice";
  for (int64_t dim : getDims())
    if (dim < 0 || dim >= rankOf(getOperand())) {
      auto diag = emitOpError() << "reduces dim " << dim << " of a tensor of rank "
                                << rankOf(getOperand());
      diag.attachNote(getOperand().getLoc()) << "the operand has type " << getOperand().getType();
      return diag;
    }
  return success();
}

FactorRule ReduceOp::getFactorRule() {
  FactorRule rule;
  FactorRule::Dims in, out;
  for (auto [dim, size] : llvm::enumerate(shapeOf(getOperand()))) {
    int factor = static_cast<int>(dim);
    in.push_back({factor});
    rule.factors.push_back({size});
    if (!llvm::is_contained(getDims(), static_cast<int64_t>(dim))) {
      out.push_back({factor});
      continue;
    }
    // There is no collective for partial products, so the dim is not split.
    rule.factors.back().kind =
        getKind() == Reduction::Prod ? FactorKind::Replicated : FactorKind::Reduction;
    if (getKind() != Reduction::Prod)
      rule.factors.back().reduce = static_cast<ReduceKind>(getKind());
  }
  rule.operands = {in};
  rule.results = {out};
  rule.linear = getKind() == Reduction::Sum;
  return rule;
}

Polynomial ReduceOp::getFlops() { return elementCount(getOperand().getType()); }

double identityOf(Reduction kind) {
  switch (kind) {
  case Reduction::Sum:
    return 0;
  case Reduction::Max:
    return -std::numeric_limits<double>::infinity();
  case Reduction::Min:
    return std::numeric_limits<double>::infinity();
  case Reduction::Prod:
    return 1;
  }
  return 0;
}

double combine(Reduction kind, double a, double b) {
  switch (kind) {
  case Reduction::Sum:
    return a + b;
  case Reduction::Max:
    return maximum(a, b);
  case Reduction::Min:
    return minimum(a, b);
  case Reduction::Prod:
    return a * b;
  }
  return 0;
}

SmallVector<Tensor> ReduceOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &operand = operands[0];
  std::vector<int64_t> shape, strides(operand.shape.size(), 0);
  for (int64_t dim = 0; dim < operand.rank(); ++dim)
    if (!llvm::is_contained(getDims(), dim))
      shape.push_back(operand.shape[dim]);
  Tensor result(operand.type, shape);
  std::vector<int64_t> outStrides = result.strides();
  for (int64_t dim = 0, out = 0; dim < operand.rank(); ++dim)
    if (!llvm::is_contained(getDims(), dim))
      strides[dim] = outStrides[out++];
  result.values.assign(result.size(), identityOf(getKind()));
  int64_t i = 0;
  forEachIndex(operand.shape, [&](const std::vector<int64_t> &index) {
    double &value = result.values[linearIndex(index, strides)];
    value = combine(getKind(), value, operand.values[i++]);
  });
  for (i = 0; i < result.size(); ++i)
    result.set(i, result.values[i]);
  return {result};
}

} // namespace cleave::graph

#define GET_OP_CLASSES
#include "dialects/graph/Reduction.cpp.inc"

void cleave::graph::GraphDialect::addReductionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Reduction.cpp.inc"
      >();
}
