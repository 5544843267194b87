// Imports an ONNX model into the graph dialect: the entry of this folder.
#pragma once

#include "compiler/frontend/step/Import.h"
#include "runtime/base/Status.h"

namespace cleave::onnx {

using frontend::Imported;
using frontend::ImportOptions;
using frontend::Remark;

// Reads the model at `path`. Every float initializer that is a parameter becomes an argument under
// its name in PyTorch. User errors: an unreadable or damaged file, operators that Cleave does not
// know (all of them are listed), shapes or types that do not fit, a symbol without a size.
Result<Imported> importOnnx(mlir::MLIRContext &context, const std::string &path,
                            const ImportOptions &options = {});

} // namespace cleave::onnx
