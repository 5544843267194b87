// Inlines the functions that a model defines itself.
#pragma once

#include "compiler/frontend/onnx/file/Model.h"

namespace cleave::onnx {

// Replaces every call, those in subgraphs included, by the nodes of the function. Values inside a
// call are named `CALL/name`; nodes without metadata get the call's. Fails on calls that are nested
// too deeply (functions may not call themselves) and on more nodes than a model can have.
void inlineFunctions(Model &model);

} // namespace cleave::onnx
