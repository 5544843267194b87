// Gradients of structural ops.
#include "passes/autodiff/rules/Rules.h"

#include "dialects/graph/Transfer.h"

using namespace cleave::graph;

namespace cleave::autodiff {

void addStructureRules(RuleTable &table) {
  table.add<AccumulateOp>([](AccumulateOp, Term dy) -> Gradients { return {dy}; });
  table.add<TransferOp>([](TransferOp op, Term dy) -> Gradients {
    return {TransferOp::create(*dy.b, dy, op.getTo(), op.getFrom())};
  });
}

} // namespace cleave::autodiff
