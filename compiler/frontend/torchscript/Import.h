// Importing a TorchScript archive (torch.jit.save) into the graph dialect: the one entry of this
// folder.
#pragma once

#include "compiler/frontend/step/Import.h"
#include "runtime/base/Status.h"

namespace cleave::torchscript {

// Whether the file is a zip archive, as all of PyTorch's are; ask for torch.export's first.
bool recognises(const std::string &path);

// Reads the model at `path` and runs its `forward` once, with handles for tensors. Parameters and
// buffers are arguments under the names that they have in PyTorch; a parameter that is stored once
// under several names is one. Inputs have the types that the options give, or those that the model
// was traced with. Outputs are called `0`, `1`, …, or by their keys in a dictionary. User errors: an
// unreadable or damaged file, inputs without a type, operators that Cleave does not know, control
// flow that depends on data in a way that cannot be computed both ways.
Result<frontend::Imported> importTorchScript(mlir::MLIRContext &context, const std::string &path,
                                             const frontend::ImportOptions &options = {});

} // namespace cleave::torchscript
