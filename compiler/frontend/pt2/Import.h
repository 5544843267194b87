// Importing a torch.export archive (.pt2) into the graph dialect: the one entry of this folder.
#pragma once

#include "compiler/frontend/step/Import.h"
#include "runtime/base/Status.h"

namespace cleave::pt2 {

// Whether the file is a torch.export archive, of any version.
bool recognises(const std::string &path);

// Reads the program at `path`. Parameters and buffers are arguments under the names that they have in
// PyTorch; what the program writes to buffers is what they become. A symbolic dim i of input x is
// called `x.i` (after the first input that has it), or as the file has it. User errors: an
// unreadable or damaged file, another schema version, operators that Cleave does not know (all of
// them are listed), a symbol without a size or with one outside its range.
Result<frontend::Imported> importExported(mlir::MLIRContext &context, const std::string &path,
                                          const frontend::ImportOptions &options = {});

} // namespace cleave::pt2
