// Nesting: keeps lists, dictionaries and objects shallow and free of cycles, so that recursion over
// values is safe and reference counts free them.
#pragma once

#include "compiler/frontend/torchscript/Objects.h"

namespace cleave::torchscript {

// Fails where containers in `value` are nested too deeply, or where one of them is `around` (may be
// null), the container that `value` is about to join. Returns the work that this took
// (Limits::spend).
int64_t checkNesting(const IValue &value, const IValue *around = nullptr);

} // namespace cleave::torchscript
