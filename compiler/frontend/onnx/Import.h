// Importing an ONNX model into the graph dialect: the one entry of this folder.
#pragma once

#include "compiler/frontend/onnx/Remark.h"
#include "runtime/base/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <string>
#include <vector>

namespace cleave::onnx {

struct ImportOptions {
  // Sizes of the model's symbolic dims, by name (--set); a nameless dim i of input x is called
  // `x.i`.
  std::map<std::string, int64_t> symbols;
  // Inputs with a known value, row-major (--value): they become constants. One unknown dim of such an
  // input follows from the number of elements.
  std::map<std::string, std::vector<double>> values;
  // Whether symbols without a size stay symbols (dialects/graph/Symbols.h), under the names that
  // symbolName makes of theirs; else all of them are reported.
  bool keepSymbols = false;
  // --tie A=B lets whoever reads the parameter A read B; --untie A gives every module that reads A
  // its own.
  std::vector<std::pair<std::string, std::string>> tie;
  std::vector<std::string> untie;
  // Whether batch norms use the batch's statistics and move the running ones, or only read those;
  // AsExported: as the file says.
  enum class BatchNorm { AsExported, Train, Frozen } batchNorm = BatchNorm::AsExported;
};

struct Imported {
  mlir::OwningOpRef<mlir::ModuleOp>
      module;                  // one func.func @step as dialects/graph/Step.h describes
  std::vector<Remark> remarks; // repairs and warnings, for the user
  std::string producer;        // the exporter, as the file names it
};

// Reads the model at `path`. Every float initializer that is a parameter becomes an argument under
// the name that it has in PyTorch. User errors: an unreadable or damaged file, an operator that
// Cleave does not know (all of them are listed), shapes or types that do not fit, a symbol without
// a size.
Result<Imported> importOnnx(mlir::MLIRContext &context, const std::string &path,
                            const ImportOptions &options = {});

} // namespace cleave::onnx
