// The table of all families.
#include "passes/autodiff/rules/Rules.h"

namespace cleave::autodiff {

RuleTable::RuleTable() {
  addAttentionRules(*this);
  addContractionRules(*this);
  addElementwiseRules(*this);
  addIndexingRules(*this);
  addLossRules(*this);
  addMovementRules(*this);
  addNormalizationRules(*this);
  addReductionRules(*this);
  addSequenceRules(*this);
  addStructureRules(*this);
}

} // namespace cleave::autodiff
