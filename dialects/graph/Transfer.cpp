// See Transfer.h.
#include "dialects/graph/Transfer.h"

#include "dialects/graph/Pointwise.h"

using namespace mlir;

namespace cleave::graph {

FactorRule TransferOp::getFactorRule() {
  FactorRule rule = pointwiseRule(*this);
  rule.linear = true;
  return rule;
}
Polynomial TransferOp::getFlops() { return 0; }
SmallVector<Tensor> TransferOp::evaluate(ArrayRef<Tensor> operands) { return {operands[0]}; }

LogicalResult TransferOp::verify() {
  const auto from = static_cast<int64_t>(getFrom()), to = static_cast<int64_t>(getTo());
  if (from == to || from < 0 || to < 0)
    return emitOpError("(C2) goes from chunk ")
           << from << " to chunk " << to << ", expected two different chunks";
  return success();
}

} // namespace cleave::graph

#define GET_OP_CLASSES
#include "dialects/graph/Transfer.cpp.inc"

void cleave::graph::GraphDialect::addTransferOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Transfer.cpp.inc"
      >();
}
