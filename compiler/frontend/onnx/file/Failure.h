// Failure: how reading and importing a model stops at the user's mistake, as in all frontends.
#pragma once

#include "compiler/frontend/emit/Failure.h"

namespace cleave::onnx {

using emit::fail;
using emit::Failure;

} // namespace cleave::onnx
