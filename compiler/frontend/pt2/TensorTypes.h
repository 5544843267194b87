// Types of the tensors that an exported program takes.
#pragma once

#include "compiler/frontend/emit/Emitter.h"
#include "compiler/frontend/pt2/Symbols.h"

namespace cleave::pt2 {

// Type and shape that the program states for an input; fails if it states none.
const TensorMeta &metaOf(const Program &program, const InputSpec &input);

// The tensor type in the step, with sizes and symbols as the user gave them. Fails (naming the
// tensor `name`) on element types without an equivalent and on sizes that `symbols` cannot resolve.
mlir::RankedTensorType typeOf(const TensorMeta &meta, const std::string &name,
                              const Symbols &symbols, const emit::Emitter &emitter);

} // namespace cleave::pt2
