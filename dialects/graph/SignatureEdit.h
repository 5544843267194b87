// SignatureEdit: many changes of the step's arguments and results, made together. One at a time, each
// costs as much as the whole signature.
#pragma once

#include "dialects/graph/Step.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

namespace cleave::graph {

// Erases these arguments, which nobody uses; results go on naming those that they replace.
void eraseArguments(mlir::func::FuncOp step, const llvm::BitVector &erased);
// Erases these results.
void eraseResults(mlir::func::FuncOp step, const llvm::BitVector &erased);

// Until commit() the step's type and attributes are those from before; only the body has its new
// arguments and results already.
class SignatureEdit {
public:
  explicit SignatureEdit(mlir::func::FuncOp step) : step_(step) {}

  // As addArgument(); `source` is what graph.source says, if anything.
  mlir::BlockArgument addArgument(mlir::Type type, llvm::StringRef name, llvm::StringRef role,
                                  mlir::Attribute source = {});
  // As addResult(); an alias may be a new argument.
  void addResult(mlir::Value value, llvm::StringRef name, llvm::StringRef role,
                 std::optional<unsigned> alias = std::nullopt);
  // Sets an attribute of an argument, be it old or new.
  void setArgAttr(unsigned i, llvm::StringRef name, mlir::Attribute value);
  // An attribute of an argument as it will be; null where absent.
  mlir::Attribute argAttr(unsigned i, llvm::StringRef name) const;

  mlir::MLIRContext *context() { return step_.getContext(); }

  // Makes the changes. More may follow, and another commit().
  void commit();

private:
  mlir::func::FuncOp step_;
  llvm::SmallVector<mlir::NamedAttrList> newArguments_;
  llvm::SmallVector<mlir::DictionaryAttr> newResults_;
  llvm::MapVector<unsigned, mlir::NamedAttrList> changed_; // old arguments
};

} // namespace cleave::graph
