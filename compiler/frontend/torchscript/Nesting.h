// Nesting: lists, dictionaries and objects within each other. They stay shallow and without cycles, so
// that recursion over values is safe and nothing keeps itself alive.
#pragma once

#include "compiler/frontend/torchscript/Objects.h"

namespace cleave::torchscript {

// Fails where containers are nested too deeply in `value`, or one of them is `around` (may be null),
// which `value` is about to be put into. Returns how much work that was.
int64_t checkNesting(const Value &value, const Value *around = nullptr);

} // namespace cleave::torchscript
