// Mixed precision (torch.autocast). A program shows it in the types of results only: products of
// f32 tensors give 16-bit floats, losses of 16-bit floats give f32.
#pragma once

#include "compiler/frontend/aten/Aten.h"

namespace cleave::pt2 {

// Casts the tensors among the arguments of an operator as torch.autocast did when the program was
// exported, if the recorded type of the operator's first result (none if it is no tensor) says so.
void castArguments(aten::Context &context, llvm::StringRef name, std::optional<ElementType> result,
                   aten::IValueList &positional, std::map<std::string, aten::IValue> &keyword);

} // namespace cleave::pt2
