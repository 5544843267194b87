// The table of gradient rules: per op, how the gradients of its operands are built from the
// gradient of its first result. One function per family; each is in the file of the family's name.
#pragma once

#include "dialects/graph/Formula.h"

#include "llvm/ADT/StringMap.h"

#include <functional>

namespace cleave::autodiff {

using graph::Term;

// One gradient per operand, of the operand's type; null where there is none (integers, step
// functions). Rules build all gradients; unused ones are erased.
using Gradients = llvm::SmallVector<mlir::Value>;
// Whether the gradient of an operand is used.
using Wanted = llvm::function_ref<bool(mlir::Value)>;
// Builds the gradients of an op's operands from `dy`, the gradient of its first result.
using Rule = std::function<Gradients(mlir::Operation *op, Term dy, Wanted wanted)>;

// Gradient rules by op name.
class RuleTable {
public:
  // The rules of all families.
  RuleTable();

  // The rule of an op, or null.
  const Rule *find(llvm::StringRef opName) const {
    auto entry = rules_.find(opName);
    return entry == rules_.end() ? nullptr : &entry->second;
  }

  // For the families: `rule` is a function (Op, Term dy) or (Op, Term dy, Wanted) -> Gradients.
  template <typename Op, typename Function> void add(Function rule) {
    rules_[Op::getOperationName()] = [rule](mlir::Operation *op, Term dy,
                                            Wanted wanted) -> Gradients {
      if constexpr (std::is_invocable_v<Function, Op, Term, Wanted>)
        return rule(mlir::cast<Op>(op), dy, wanted);
      else
        return rule(mlir::cast<Op>(op), dy);
    };
  }

private:
  llvm::StringMap<Rule> rules_;
};

// Add the rules of one op family each.
void addAttentionRules(RuleTable &table);
void addContractionRules(RuleTable &table);
void addElementwiseRules(RuleTable &table);
void addIndexingRules(RuleTable &table);
void addLossRules(RuleTable &table);
void addMovementRules(RuleTable &table);
void addNormalizationRules(RuleTable &table);
void addReductionRules(RuleTable &table);
void addSequenceRules(RuleTable &table);
void addStructureRules(RuleTable &table);

} // namespace cleave::autodiff
