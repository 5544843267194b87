// StepBuilder: builds the function @step (dialects/graph/Step.h) around an imported program: the
// empty function, arguments with their roles, constants, outputs and results that replace states.
// The importers of all formats use it; the ops of the program itself are built with builder().
#pragma once

#include "compiler/frontend/emit/Evaluate.h"
#include "compiler/frontend/step/Import.h"
#include "dialects/graph/SignatureEdit.h"

namespace cleave::frontend {

// Tensors of at most this many bytes that are neither parameters nor states become constants in the
// step, larger ones arguments of it.
inline constexpr int64_t kMaxConstantBytes = 4096;

// Fails where the value of the buffer `name` after the step has another type than before it.
void checkStateType(const std::string &name, mlir::Value before, mlir::Value after);

class StepBuilder {
public:
  // Creates a module with an empty @step. `path` is the model file: the location of both, and the
  // file in which finish() reads constants.
  StepBuilder(mlir::MLIRContext &context, const std::string &path);

  // Builds the ops of the step. It inserts before the terminator until it is moved elsewhere.
  mlir::OpBuilder &builder() { return b_; }
  // Evaluates values of this step; counts the ops that builder() creates.
  emit::Evaluator &evaluator() { return evaluator_; }
  // The model file as a location.
  mlir::Location location() { return module_->getLoc(); }
  mlir::ModuleOp module() { return *module_; }
  // Moves builder() back to the end of the step.
  void setInsertionPointToEnd();

  // -- arguments
  // Adds an argument. `source` is its graph.source (a TensorOrigin or RandomOrigin); null for
  // inputs.
  mlir::BlockArgument addArgument(Role role, mlir::Type type, llvm::StringRef name,
                                  mlir::Attribute source = {});
  mlir::BlockArgument addArgument(Role role, mlir::Type type, llvm::StringRef name,
                                  const graph::TensorOrigin &source);
  // Notes a further name that a parameter has in the user's model (graph.other_names).
  void nameAlso(const std::string &other, const std::string &parameter);
  // Marks a parameter as not trained (graph.frozen).
  void freeze(mlir::BlockArgument parameter);
  // The user's name of an argument.
  llvm::StringRef nameOf(mlir::BlockArgument argument) const;

  // -- constants, built at builder() with `name` as location
  // Fails when the constant, or all constants together, have too many elements (emit/Evaluate.h).
  mlir::Value addConstant(llvm::StringRef name, const Tensor &elements);
  // For int64 elements, of which a Tensor holds 53 bits.
  mlir::Value addConstant(llvm::StringRef name, mlir::DenseElementsAttr elements);

  // -- results
  void addOutput(mlir::Value value, llvm::StringRef name);
  // Adds `last` as the value of `state` after the step. Fails where checkStateType() does.
  void addStateResult(mlir::BlockArgument state, mlir::Value last);

  // Writes the arguments and results added so far into the signature of @step. Messages of the
  // evaluator name an input only after this.
  void commit();
  // Commits, cleans up and verifies the step (FinishStep.h). The builder is spent afterwards.
  Imported finish(std::vector<Remark> remarks, std::string producer);

private:
  std::string path_;
  mlir::OpBuilder b_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  graph::SignatureEdit signature_;
  emit::Evaluator evaluator_;
};

} // namespace cleave::frontend
