// InputType: the type or value that the user gives an input (`--input x=float32[batch,8]`).
#pragma once

#include "dialects/interfaces/Polynomial.h"
#include "dialects/interfaces/Tensor.h"
#include "runtime/base/Status.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cleave::frontend {

// A tensor type, or a literal for an input that is not a tensor.
struct InputType {
  std::string name;                   // of the input
  std::optional<ElementType> element; // none: the input is the value `literal`
  std::vector<std::string> dims;      // numbers, or names of symbols
  std::string literal;                // `true`, `3`, `0.5`, `none`
};

// Reads NAME=TYPE[DIM,…] or NAME=VALUE. A user error for anything else.
Result<InputType> parseInput(const std::string &text);

// The sizes of the input's dims, with the values in `symbols`. A symbol without a value stays a
// symbol with `keepSymbols`, else it is a user error. Appends the symbols that occur to `used`.
Result<std::vector<Polynomial>> sizesOf(const InputType &input,
                                        const std::map<std::string, int64_t> &symbols,
                                        bool keepSymbols, std::vector<std::string> &used);

} // namespace cleave::frontend
