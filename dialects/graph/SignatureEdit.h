// SignatureEdit: batched changes of the step's arguments and results. A single change takes time
// proportional to the whole signature, so many changes are collected and committed together.
#pragma once

#include "dialects/graph/Step.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

namespace cleave::graph {

// Erases these arguments, which must have no uses. The aliases of results are renumbered.
void eraseArguments(mlir::func::FuncOp step, const llvm::BitVector &erased);
// Erases these results.
void eraseResults(mlir::func::FuncOp step, const llvm::BitVector &erased);

// Until commit() the type and the attributes of the step stay as they are; only the body has the
// new arguments and results.
class SignatureEdit {
public:
  explicit SignatureEdit(mlir::func::FuncOp step) : step_(step) {}

  // As graph::addArgument(); `source` becomes graph.source if it is not null.
  mlir::BlockArgument addArgument(mlir::Type type, llvm::StringRef name, Role role,
                                  mlir::Attribute source = {});
  // As graph::addResult(); an alias may be a new argument.
  void addResult(mlir::Value value, llvm::StringRef name, Role role,
                 std::optional<unsigned> alias = std::nullopt);
  // Sets an attribute, or the role, of an existing or new argument.
  void setArgAttr(unsigned i, llvm::StringRef name, mlir::Attribute value);
  void setRole(unsigned i, Role role);
  // Sets an attribute of a new result.
  void setResultAttr(unsigned i, llvm::StringRef name, mlir::Attribute value);
  // An attribute of an argument, pending changes included; null if absent.
  mlir::Attribute argAttr(unsigned i, llvm::StringRef name) const;

  // The context of the step.
  mlir::MLIRContext *context() { return step_.getContext(); }

  // Applies the changes made so far. More changes and another commit() may follow.
  void commit();

private:
  mlir::func::FuncOp step_;
  llvm::SmallVector<mlir::NamedAttrList> newArguments_;
  llvm::SmallVector<mlir::NamedAttrList> newResults_;
  llvm::MapVector<unsigned, mlir::NamedAttrList> changed_; // old arguments
};

} // namespace cleave::graph
