// What programs do with strings, dictionaries and their surroundings; everything else that they
// call is an operator of compiler/frontend/aten.
#pragma once

#include "compiler/frontend/torchscript/Objects.h"

#include <optional>

namespace cleave::torchscript {

// The result of `aten::format`, `aten::keys`, …; none if this is no such call. Throws a Failure or
// Raised.
std::optional<Value> callBuiltin(const std::string &name, const ValueList &arguments);

// Whether callBuiltin may know a call of this name.
bool isBuiltin(const std::string &name);

// The position in a list that an index, counted from the end where negative, means; fails outside.
size_t listIndex(const Value &list, const Value &index);

// The elements of range(…), as a list.
Value rangeOf(const ValueList &arguments);

} // namespace cleave::torchscript
