// Imports a torch.export archive (.pt2) into the graph dialect: the entry of this folder.
#pragma once

#include "compiler/frontend/step/Import.h"
#include "runtime/base/Status.h"

namespace cleave::pt2 {

// Whether the file is a torch.export archive, of any version.
bool recognises(const std::string &path);

// Imports the program at `path`. Parameters and buffers become arguments under their names in
// PyTorch; buffers that the program writes become states. A symbolic dim i of input x is called
// `x.i` (after the first input that has it), or by its name in the file. User errors: an unreadable
// or damaged file, another schema version, unsupported operators (all are listed), a symbol without
// a size or with one outside of its range.
Result<frontend::Imported> importExported(mlir::MLIRContext &context, const std::string &path,
                                          const frontend::ImportOptions &options = {});

} // namespace cleave::pt2
