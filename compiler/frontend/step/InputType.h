// InputType: what the user says about an input of a model whose file does not tell
// (`--input x=float32[batch,8]`).
#pragma once

#include "dialects/interfaces/Polynomial.h"
#include "dialects/interfaces/Tensor.h"
#include "runtime/base/Status.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cleave::frontend {

struct InputType {
  std::string name;
  std::optional<ElementType> element; // none: the input is the plain value `literal`
  std::vector<std::string> dims;      // numbers, or names of symbols
  std::string literal;                // `true`, `3`, `0.5`, `none`
};

// Reads NAME=TYPE[DIM,…] or NAME=VALUE. A user error for anything else.
Result<InputType> parseInput(const std::string &text);

// The dims. A user error where a symbol has no value, unless it may stay a symbol (`keepSymbols`);
// `used` gets the symbols.
Result<std::vector<Polynomial>> sizesOf(const InputType &input,
                                        const std::map<std::string, int64_t> &symbols,
                                        bool keepSymbols, std::vector<std::string> &used);

} // namespace cleave::frontend
