// Inputs whose value the user fixes (`--value mask=1,1,0`): they become constants.
#pragma once

#include "dialects/interfaces/Tensor.h"

#include <optional>
#include <string>
#include <vector>

namespace cleave::frontend {

// The constant. A dim without a size follows from the number of elements. Throws a Failure (the user's) where there is more
// than one of these or the numbers do not fit; integers are kept within +-2^62, which means "to the end".
Tensor knownInput(const std::string &name, ElementType type,
                  const std::vector<std::optional<int64_t>> &dims,
                  const std::vector<double> &values);

} // namespace cleave::frontend
