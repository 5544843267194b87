// Questions about single ops.
#include "dialects/graph/Cost.h"

using namespace mlir;

namespace cleave::graph {

bool isCostly(Operation *op) {
  constexpr int64_t kCostlyFlops = 10;
  auto pointwise = dyn_cast<PointwiseInterface>(op);
  return pointwise && pointwise.getFlopsPerElement() >= kCostlyFlops;
}

bool isReadSparsely(Operation *op, unsigned operand) {
  return op->hasTrait<TableLookup>() && operand == 0;
}

int64_t touchedBytes(Operation *op) {
  auto bytesOf = [](Value value) { return byteCount(value.getType()).constant().value_or(0); };
  int64_t written = 0;
  for (Value result : op->getResults())
    written += bytesOf(result);
  int64_t bytes = written;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    bytes += isReadSparsely(op, i) ? std::min(bytesOf(operand), written) : bytesOf(operand);
  return bytes;
}

} // namespace cleave::graph
