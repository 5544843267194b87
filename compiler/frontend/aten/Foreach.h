// Operators on lists of tensors (_foreach_add), which do the same to each item.
#pragma once

#include "compiler/frontend/aten/Aten.h"

namespace cleave::aten {

// Whether the operator `name` (without `aten::`) is one of these, in place or not.
bool isForeach(llvm::StringRef name);

// Calls the operator of single tensors for each item: returns the list of its results; none in
// place.
IValueList callForeach(Context &context, llvm::StringRef name, const IValueList &positional,
                       const std::map<std::string, IValue> &keyword);

} // namespace cleave::aten
