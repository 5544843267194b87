// The options and the result of importing a model file, for all formats.
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

// The name in --set for the first dims of inputs, in models that have no symbol of this name; sizes
// of such dims that are given by their own names come first.
inline constexpr const char *kBatch = "batch";

// The user's options. Options that a format does not need are ignored or refused by its importer.
struct ImportOptions {
  // Sizes of symbolic dims by name (--set). A nameless dim i of input x is called `x.i`. The name
  // `batch` stands for the first dims of all inputs where no symbol has it (kBatch).
  std::map<std::string, int64_t> symbols;
  // Inputs that become constants (--value): their elements, row-major. One unknown dim of such an
  // input follows from the number of elements.
  std::map<std::string, std::vector<double>> values;
  // The same for inputs of strings, by input.
  std::map<std::string, std::vector<std::string>> strings;
  // Keep symbols without a size as symbols (dialects/graph/Symbols.h), under the names that
  // symbolName() derives. False: such symbols are errors.
  bool keepSymbols = false;
  // Types of inputs (--input), which override those in the file.
  std::vector<InputType> inputs;
  // --tie A=B: every use of parameter A reads B. --untie A: each module that reads A gets a
  // parameter of its own.
  std::vector<std::pair<std::string, std::string>> tie;
  std::vector<std::string> untie;
  // --batch-norm. Train: batch norms use the statistics of the batch and update the running ones;
  // Frozen: they use the running ones; AsExported: as in the file.
  enum class BatchNorm { AsExported, Train, Frozen } batchNorm = BatchNorm::AsExported;
  // Builds the gradients that a model itself computes (an ONNX Gradient operator; passes/autodiff,
  // which frontends do not include): those of `target`, a scalar, by each of `wrt`, at the
  // builder's insertion point; null for values on which `target` does not depend. Without it such
  // models are refused.
  std::function<mlir::LogicalResult(mlir::OpBuilder &b, mlir::Value target,
                                    llvm::ArrayRef<mlir::Value> wrt,
                                    llvm::SmallVectorImpl<mlir::Value> &grads)>
      differentiate;
};

// A model as a step.
struct Imported {
  mlir::OwningOpRef<mlir::ModuleOp> module; // one func.func @step (dialects/graph/Step.h)
  std::vector<Remark> remarks;              // repairs and warnings
  std::string producer;                     // the exporter, by the name in the file
};

} // namespace cleave::frontend
