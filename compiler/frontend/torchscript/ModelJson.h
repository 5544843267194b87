// ModelJson: the layout of archives of PyTorch 1.0 to 1.3. model.json contains the tree of modules
// and the table of tensors, attributes.pkl the other attributes; each module has a file of methods,
// in which CONSTANTS.c3 is tensor 3 of the table.
#pragma once

#include "compiler/frontend/torch/Pickle.h"

namespace cleave::torchscript {

class Program;

// Whether the archive has this layout.
bool hasModelJson(const torch::Archive &archive);

// The counterparts of data.pkl and constants.pkl in later archives.
struct ModelData {
  torch::Pickle data;      // the root is the model
  torch::Pickle constants; // the root is a tuple
};

// Reads such an archive and adds a class per module to `program`. Fails on damage, and on modules
// that restore themselves by code of their own (__setstate__), as quantized ones do.
ModelData readModelJson(const torch::Archive &archive, Program &program);

} // namespace cleave::torchscript
