// Folding of names: models repeat blocks, and what is decided for one is mostly decided for all.
#pragma once

#include <string>
#include <vector>

namespace cleave::dump {

// The name with every number replaced by `#`: equal for the same place in different blocks.
std::string nameShape(const std::string &name);

// One name for several of the same shape: `h.{0-3}.attn.weight`; numbers that several places vary
// print as the set of each place.
std::string foldedName(const std::vector<std::string> &names);

} // namespace cleave::dump
