// Gradients of structural ops.
#include "passes/autodiff/rules/Rules.h"

using namespace cleave::graph;

namespace cleave::autodiff {

void addStructureRules(RuleTable &table) {
  table.add<AccumulateOp>([](AccumulateOp, Term dy) -> Gradients { return {dy}; });
}

} // namespace cleave::autodiff
