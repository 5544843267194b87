// Contraction: dot_general. Convolutions are in Convolution.cpp, pooling in Pooling.cpp.
#include "dialects/graph/Graph.h"

using namespace mlir;

namespace cleave::graph {

// The dims of a tensor of this rank that stand in neither list, in order.
static SmallVector<int64_t> freeDims(int64_t rank, ArrayRef<int64_t> batch,
                                     ArrayRef<int64_t> contracting) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contracting, dim))
      dims.push_back(dim);
  return dims;
}

LogicalResult DotGeneralOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                             Adaptor adaptor, SmallVectorImpl<Type> &types) {
  Shape lhs = shapeOf(adaptor.getLhs()), rhs = shapeOf(adaptor.getRhs()), result;
  for (int64_t dim : adaptor.getLhsBatch())
    result.push_back(lhs[dim]);
  for (int64_t dim : freeDims(lhs.size(), adaptor.getLhsBatch(), adaptor.getLhsContracting()))
    result.push_back(lhs[dim]);
  for (int64_t dim : freeDims(rhs.size(), adaptor.getRhsBatch(), adaptor.getRhsContracting()))
    result.push_back(rhs[dim]);
  types.push_back(tensorOf(result, elementTypeOf(adaptor.getLhs())));
  return success();
}

bool DotGeneralOp::isCompatibleReturnTypes(TypeRange inferred, TypeRange found) {
  return isProductTensor(found[0], inferred[0]);
}

LogicalResult DotGeneralOp::verify() {
  Shape lhs = shapeOf(getLhs()), rhs = shapeOf(getRhs());
  auto withOperands = [&](InFlightDiagnostic diag) {
    diag.attachNote(getLhs().getLoc()) << "lhs has type " << getLhs().getType();
    diag.attachNote(getRhs().getLoc()) << "rhs has type " << getRhs().getType();
    return diag;
  };
  auto check = [&](ArrayRef<int64_t> left, ArrayRef<int64_t> right,
                   StringRef what) -> LogicalResult {
    if (left.size() != right.size())
      return emitOpError() << "has " << left.size() << " " << what << " dims on the left, but "
                           << right.size() << " on the right";
    for (auto [l, r] : llvm::zip(left, right)) {
      if (l < 0 || r < 0 || l >= static_cast<int64_t>(lhs.size()) ||
          r >= static_cast<int64_t>(rhs.size()))
        return withOperands(emitOpError()
                            << what << " dims " << l << " and " << r << " do not exist");
      if (lhs[l] != rhs[r])
        return withOperands(emitOpError()
                            << what << " dims " << l << " and " << r
                            << " differ in size: " << lhs[l].str() << " and " << rhs[r].str());
    }
    return success();
  };
  if (elementTypeOf(getLhs()) != elementTypeOf(getRhs()))
    return withOperands(emitOpError() << "multiplies elements of type " << elementTypeOf(getLhs())
                                      << " with " << elementTypeOf(getRhs()));
  if (failed(check(getLhsBatch(), getRhsBatch(), "batch")) ||
      failed(check(getLhsContracting(), getRhsContracting(), "contracting")))
    return failure();
  for (auto [batch, contracting] : {std::pair(getLhsBatch(), getLhsContracting()),
                                    std::pair(getRhsBatch(), getRhsContracting())}) {
    SmallVector<int64_t> named(batch);
    llvm::append_range(named, contracting);
    llvm::sort(named);
    if (std::adjacent_find(named.begin(), named.end()) != named.end())
      return emitOpError() << "names a dim of an operand twice";
  }
  return success();
}

FactorRule DotGeneralOp::getFactorRule() {
  Shape lhs = shapeOf(getLhs()), rhs = shapeOf(getRhs());
  FactorRule rule;
  FactorRule::Dims left(lhs.size()), right(rhs.size()), result;
  auto factor = [&](const Polynomial &size, FactorKind kind = FactorKind::PassThrough) {
    rule.factors.push_back({size, kind});
    return static_cast<int>(rule.factors.size()) - 1;
  };
  for (auto [l, r] : llvm::zip(getLhsBatch(), getRhsBatch())) {
    left[l] = right[r] = {factor(lhs[l])};
    result.push_back(left[l]);
  }
  for (int64_t dim : freeDims(lhs.size(), getLhsBatch(), getLhsContracting())) {
    left[dim] = {factor(lhs[dim])};
    result.push_back(left[dim]);
  }
  for (int64_t dim : freeDims(rhs.size(), getRhsBatch(), getRhsContracting())) {
    right[dim] = {factor(rhs[dim])};
    result.push_back(right[dim]);
  }
  for (auto [l, r] : llvm::zip(getLhsContracting(), getRhsContracting()))
    left[l] = right[r] = {factor(lhs[l], FactorKind::Reduction)};
  rule.operands = {left, right};
  rule.results = {result};
  return rule;
}

Polynomial DotGeneralOp::getFlops() {
  Polynomial flops(2);
  for (const Factor &factor : getFactorRule().factors)
    flops *= factor.size;
  return flops;
}

SmallVector<Tensor> DotGeneralOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &lhs = operands[0], &rhs = operands[1];
  FactorRule rule = getFactorRule();
  // The strides of every factor in both operands; a tensor without the factor does not move along
  // it.
  std::vector<int64_t> sizes(rule.factors.size());
  std::vector<int64_t> left(sizes.size(), 0), right(sizes.size(), 0);
  auto place = [](const FactorRule::Dims &dims, ArrayRef<int64_t> strides,
                  std::vector<int64_t> &into) {
    for (size_t dim = 0; dim < dims.size(); ++dim)
      into[dims[dim][0]] = strides[dim];
  };
  for (size_t dim = 0; dim < lhs.shape.size(); ++dim)
    sizes[rule.operands[0][dim][0]] = lhs.shape[dim];
  for (size_t dim = 0; dim < rhs.shape.size(); ++dim)
    sizes[rule.operands[1][dim][0]] = rhs.shape[dim];
  std::vector<int64_t> shape;
  for (const auto &dim : rule.results[0])
    shape.push_back(sizes[dim[0]]);
  Tensor result(toElementType(elementTypeOf(getType())), shape);
  place(rule.operands[0], lhs.strides(), left);
  place(rule.operands[1], rhs.strides(), right);
  // Contracting factors come last. These are the positions of the summands of one sum, relative to
  // the first.
  size_t kept = shape.size();
  std::vector<int64_t> summed(sizes.begin() + kept, sizes.end());
  std::vector<int64_t> leftOf(left.begin() + kept, left.end()),
      rightOf(right.begin() + kept, right.end());
  std::vector<std::pair<int64_t, int64_t>> summands;
  forEachIndex(summed, [&](const std::vector<int64_t> &index) {
    summands.push_back({linearIndex(index, leftOf), linearIndex(index, rightOf)});
  });
  int64_t position = 0;
  forEachIndex(shape, [&](const std::vector<int64_t> &index) {
    int64_t l = linearIndex(index, left), r = linearIndex(index, right);
    double sum = 0;
    for (auto [leftAt, rightAt] : summands)
      sum += lhs.values[l + leftAt] * rhs.values[r + rightAt];
    result.set(position++, sum);
  });
  return {result};
}

} // namespace cleave::graph

#define GET_OP_CLASSES
#include "dialects/graph/Contraction.cpp.inc"

void cleave::graph::GraphDialect::addContractionOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Contraction.cpp.inc"
      >();
}
