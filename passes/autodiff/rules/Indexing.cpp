// Gradients of indexing ops: gather and scatter_add are each other's.
#include "passes/autodiff/rules/Rules.h"

using namespace cleave::graph;
using namespace mlir;

namespace cleave::autodiff {

void addIndexingRules(RuleTable &table) {
  table.add<GatherOp>([](GatherOp op, Term dy) -> Gradients {
    return {
        ScatterAddOp::create(*dy.b, op.getOperand().getType(), dy, op.getIndices(), op.getDim()),
        Value()};
  });
  table.add<ScatterAddOp>([](ScatterAddOp op, Term dy) -> Gradients {
    return {GatherOp::create(*dy.b, dy, op.getIndices(), op.getDim()), Value()};
  });
}

} // namespace cleave::autodiff
