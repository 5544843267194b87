// Writes Model.h as an ONNX file.
#pragma once

#include "compiler/frontend/onnx/file/Model.h"

namespace cleave::onnx {

// The file's bytes: the inverse of readModel, for models without functions. Tensors are written
// with the elements in `decoded`, as references to another file, or, where they have an
// initialisation, as inputs.
std::string writeModel(const Model &model);

} // namespace cleave::onnx
