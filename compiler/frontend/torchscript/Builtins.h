// Builtins: operations on strings, dictionaries and other values that are no tensors. All other
// calls are operators of compiler/frontend/aten.
#pragma once

#include "compiler/frontend/torchscript/Objects.h"

#include <optional>

namespace cleave::torchscript {

// The result of `aten::format`, `aten::keys`, …; none if the call is not a builtin. Throws a
// Failure or Raised.
std::optional<IValue> callBuiltin(const std::string &name, const IValueList &arguments);

// Whether callBuiltin() supports calls of this name.
bool isBuiltin(const std::string &name);

// Converts an index, which counts from the end if negative, to a position in the list; fails
// outside.
size_t listIndex(const IValue &list, const IValue &index);

// The elements of range(…) as a list.
IValue rangeOf(const IValueList &arguments);

} // namespace cleave::torchscript
