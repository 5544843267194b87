// Imports a TorchScript archive (torch.jit.save) into the graph dialect: the entry of this folder.
#pragma once

#include "compiler/frontend/step/Import.h"
#include "runtime/base/Status.h"

namespace cleave::torchscript {

// Whether the file is a zip archive. All archives of PyTorch are: check for torch.export's first.
bool recognises(const std::string &path);

// Reads the model at `path` and runs its `forward` once, with handles for tensors. Parameters and
// buffers become arguments under their names in PyTorch; a parameter that is stored once under
// several names is one. Inputs have the types in the options, or those recorded by tracing. Outputs
// are named `0`, `1`, …, or by their keys in a dictionary. User errors: an unreadable or damaged
// file, inputs without a type, unsupported operators, and control flow that depends on data and
// cannot be computed both ways.
Result<frontend::Imported> importTorchScript(mlir::MLIRContext &context, const std::string &path,
                                             const frontend::ImportOptions &options = {});

} // namespace cleave::torchscript
