// What the targets of model files have in common.
#pragma once

#include "compiler/frontend/step/Import.h"
#include "runtime/base/Status.h"

#include <string>

namespace cleave::fuzz {

using Importer = Result<frontend::Imported>(mlir::MLIRContext &, const std::string &,
                                            const frontend::ImportOptions &);

// Imports the file twice: with `batch` = 2, if that is a symbol of its, and with symbols that stay. What
// comes out has to verify. With CLEAVE_FUZZ_VERBOSE in the environment, MLIR's diagnostics are printed.
void importModel(Importer *read, const std::string &path, bool hasBatch);

} // namespace cleave::fuzz
