// Folding of names: repeated blocks of a model have names that differ in numbers only.
#pragma once

#include <string>
#include <vector>

namespace cleave {

// The name with every number replaced by `#`: equal for corresponding parts of different blocks.
std::string nameShape(const std::string &name);

// One name for several of the same shape: `h.{0-3}.attn.weight`; if several numbers vary, each
// prints as its own set.
std::string foldedName(const std::vector<std::string> &names);

} // namespace cleave
