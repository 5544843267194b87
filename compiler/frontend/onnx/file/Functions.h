// Functions that a model defines itself: every call is replaced by the nodes of the function.
#pragma once

#include "compiler/frontend/onnx/file/Model.h"

namespace cleave::onnx {

// Inlines all calls, in subgraphs too. Values inside a call are named `CALL/name`, nodes without
// metadata take the call's. Fails on calls nested too deeply (functions may not call themselves) and
// on more nodes than a model can have.
void inlineFunctions(Model &model);

} // namespace cleave::onnx
