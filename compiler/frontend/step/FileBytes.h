// The bytes of a model file: mapped into memory and read element by element.
#pragma once

#include "dialects/interfaces/Tensor.h"

#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <string_view>

namespace cleave::frontend {

// Maps the regular file at `path`. Throws a Failure that calls it `what` if it cannot be read.
std::unique_ptr<llvm::MemoryBuffer> mapFile(const std::string &path, const std::string &what);

// Element `index` of an array of little-endian elements.
double elementAt(std::string_view bytes, ElementType type, int64_t index);

} // namespace cleave::frontend
