// Common function of the targets of model files.
#pragma once

#include "compiler/frontend/step/Import.h"
#include "runtime/base/Status.h"

#include <string>

namespace cleave::fuzz {

using Importer = Result<frontend::Imported>(mlir::MLIRContext &, const std::string &,
                                            const frontend::ImportOptions &);

// Imports the file twice: with `batch` = 2 if the model has this symbol, and with open symbols. The
// resulting modules must verify. Prints MLIR's diagnostics if the environment has
// CLEAVE_FUZZ_VERBOSE.
void importModel(Importer *read, const std::string &path, bool hasBatch);

} // namespace cleave::fuzz
