// The bytes of a model file: mapped into memory, never copied, and read element by element where
// the import needs numbers.
#pragma once

#include "dialects/interfaces/Tensor.h"

#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <string_view>

namespace cleave::frontend {

// Maps the regular file at `path`; fails if it cannot, and calls it `what` then.
std::unique_ptr<llvm::MemoryBuffer> mapFile(const std::string &path, const std::string &what);

// One element of little-endian bytes.
double elementAt(std::string_view bytes, ElementType type, int64_t index);

} // namespace cleave::frontend
