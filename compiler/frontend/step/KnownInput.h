// Inputs whose value the user gives (`--value mask=1,1,0`), as constants.
#pragma once

#include "dialects/interfaces/Tensor.h"

#include <optional>
#include <string>
#include <vector>

namespace cleave::frontend {

// The constant for input `name`. One dim may have no size: it follows from the number of elements.
// Throws a Failure (a user error) where the numbers do not fit the dims or a second dim has no
// size. Integers are clamped to ±2^62, which means "to the end".
Tensor knownInput(const std::string &name, ElementType type,
                  const std::vector<std::optional<int64_t>> &dims,
                  const std::vector<double> &values);

} // namespace cleave::frontend
