#include "passes/bufferize/InPlace.h"

#include "compiler/analysis/IterationSpace.h"

using namespace mlir;

namespace cleave::bufferize {

bool readsElementwise(graph::FusionOp fusion, unsigned operand, unsigned result) {
  Block &body = fusion.getBody().front();
  Value read = body.getArgument(operand), written = body.getTerminator()->getOperand(result);
  if (graph::staticShapeOf(read) != graph::staticShapeOf(written))
    return false;
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);
  analysis::IterationSpace space = analysis::iterationSpaceOf(ops, body.getArguments());
  for (int64_t dim = 0; dim < graph::rankOf(read); ++dim)
    if (space.factorOf(read, dim) != space.factorOf(written, dim))
      return false;
  return true;
}

} // namespace cleave::bufferize
