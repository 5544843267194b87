// Sequence: graph.scan and graph.sort.
#include "dialects/graph/Lines.h"
#include "dialects/graph/Pointwise.h"

#include <cmath>

using namespace mlir;

namespace cleave::graph {

LogicalResult verifyDim(Operation *op, int64_t dim) {
  Value operand = op->getOperand(0);
  int64_t rank = rankOf(operand);
  if (dim < 0 || dim >= rank) {
    auto diag = op->emitOpError() << "acts on dim " << dim << " of a tensor of rank " << rank;
    diag.attachNote(operand.getLoc()) << "the operand has type " << operand.getType();
    return diag;
  }
  return success();
}

// The rule of an op on lines along `dim`: all other dims may be split.
static FactorRule lineRule(Operation *op, int64_t dim) {
  FactorRule rule = pointwiseRule(op);
  rule.factors[dim].kind = FactorKind::Replicated;
  return rule;
}

// -- scan -----------------------------------------------------------------------------------------

LogicalResult ScanOp::verify() { return verifyDim(*this, getDim()); }

FactorRule ScanOp::getFactorRule() {
  FactorRule rule = lineRule(*this, getDim());
  rule.linear = getKind() == Reduction::Sum;
  return rule;
}

Polynomial ScanOp::getFlops() { return elementCount(getType()); }

SmallVector<Tensor> ScanOp::evaluate(ArrayRef<Tensor> operands) {
  Tensor result = operands[0];
  forEachLine(result, getDim(), [&](ArrayRef<int64_t> line) {
    double value = identityOf(getKind());
    for (int64_t i : line)
      result.set(i, value = combine(getKind(), value, operands[0].values[i]));
  });
  return {result};
}

// -- sort -----------------------------------------------------------------------------------------

LogicalResult SortOp::verify() { return verifyDim(*this, getDim()); }

LogicalResult SortOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (failed(verifyParsed(location, adaptor.getOperand())))
    return failure();
  types.push_back(adaptor.getOperand().getType());
  types.push_back(tensorOf(shapeOf(adaptor.getOperand()), IntegerType::get(context, 64)));
  return success();
}

FactorRule SortOp::getFactorRule() { return lineRule(*this, getDim()); }

// One comparison per element and level of merging.
Polynomial SortOp::getFlops() {
  std::optional<int64_t> size = shapeOf(getOperand())[getDim()].constant();
  auto halvings = static_cast<int64_t>(
      std::ceil(std::log2(static_cast<double>(std::max<int64_t>(size.value_or(1024), 2)))));
  return elementCount(getOperand().getType()) * Polynomial(halvings);
}

SmallVector<Tensor> SortOp::evaluate(ArrayRef<Tensor> operands) {
  const Tensor &from = operands[0];
  Tensor values = from, indices(ElementType::I64, from.shape);
  auto isLess = [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); };
  forEachLine(from, getDim(), [&](ArrayRef<int64_t> line) {
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, line.size()));
    llvm::stable_sort(order, [&](int64_t i, int64_t j) {
      double a = from.values[line[i]], b = from.values[line[j]];
      return getDescending() ? isLess(b, a) : isLess(a, b);
    });
    for (auto [to, source] : llvm::zip(line, order)) {
      values.values[to] = from.values[line[source]];
      indices.values[to] = static_cast<double>(source);
    }
  });
  return {values, indices};
}

} // namespace cleave::graph

#define GET_OP_CLASSES
#include "dialects/graph/Sequence.cpp.inc"

void cleave::graph::GraphDialect::addSequenceOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Sequence.cpp.inc"
      >();
}
