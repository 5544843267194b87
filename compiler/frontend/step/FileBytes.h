// The bytes of a model file: mapped into memory and read element by element.
#pragma once

#include "dialects/interfaces/Tensor.h"
#include "runtime/base/MappedFile.h"

#include <memory>
#include <string>
#include <string_view>

namespace cleave::frontend {

// Maps the regular file at `path`. Throws a Failure that calls it `what` if it cannot be read.
std::shared_ptr<const MappedFile> mapFile(const std::string &path, const std::string &what);
// Maps the file that the model at `modelPath` names by `location` (see ExternalFile.h).
std::shared_ptr<const MappedFile>
mapExternalFile(const std::string &modelPath, const std::string &location, const std::string &what);

// Element `index` of an array of little-endian elements.
double elementAt(std::string_view bytes, ElementType type, int64_t index);

} // namespace cleave::frontend
