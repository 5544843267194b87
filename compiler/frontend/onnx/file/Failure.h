// The Failure of all frontends, under this folder's namespace.
#pragma once

#include "compiler/frontend/emit/Failure.h"

namespace cleave::onnx {

using emit::fail;
using emit::Failure;

} // namespace cleave::onnx
