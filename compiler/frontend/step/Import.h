// What the user may say about a model file of any format, and what comes out of importing it.
#pragma once

#include "compiler/frontend/step/InputType.h"
#include "compiler/frontend/step/Remark.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace cleave::frontend {

struct ImportOptions {
  // Sizes of the model's symbolic dims, by name (--set); a nameless dim i of input x is called
  // `x.i`.
  std::map<std::string, int64_t> symbols;
  // Inputs with a known value, row-major (--value): they become constants. One unknown dim of such an
  // input follows from the number of elements.
  std::map<std::string, std::vector<double>> values;
  // The same as typed, for inputs that are texts.
  std::map<std::string, std::vector<std::string>> texts;
  // Whether symbols without a size stay symbols (dialects/graph/Symbols.h), under the names that
  // symbolName makes of theirs; else all of them are reported.
  bool keepSymbols = false;
  // Types of inputs that the file does not tell or tells otherwise (--input).
  std::vector<InputType> inputs;
  // --tie A=B lets whoever reads the parameter A read B; --untie A gives every module that reads A
  // its own.
  std::vector<std::pair<std::string, std::string>> tie;
  std::vector<std::string> untie;
  // Whether batch norms use the batch's statistics and move the running ones, or only read those;
  // AsExported: as the file says.
  enum class BatchNorm { AsExported, Train, Frozen } batchNorm = BatchNorm::AsExported;
  // Who builds gradients for a model that asks for some (passes/autodiff, which frontends do not see): those of
  // `target`, a scalar, by each of `wrt`, at the builder's point; null ones where it does not depend on it. Without
  // it such a model is refused.
  std::function<mlir::LogicalResult(mlir::OpBuilder &b, mlir::Value target,
                                    llvm::ArrayRef<mlir::Value> wrt,
                                    llvm::SmallVectorImpl<mlir::Value> &grads)>
      differentiate;
};

struct Imported {
  mlir::OwningOpRef<mlir::ModuleOp>
      module;                  // one func.func @step as dialects/graph/Step.h describes
  std::vector<Remark> remarks; // repairs and warnings, for the user
  std::string producer;        // the exporter, as the file names it
};

} // namespace cleave::frontend
